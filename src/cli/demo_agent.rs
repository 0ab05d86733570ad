//! `eval-job demo-agent`

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::args::DemoAgentArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::run::runtime;
use super::signals::Signals;
use crate::agent::demo::{DemoAgent, DemoConfig};
use crate::graph::neo4j::{self, Neo4jConfig, Neo4jGraph, Neo4jLimits};
use crate::graph::{Graph, Parameters};
use crate::plan::{Refusal, missing_feature};
use crate::run::neo4j_connection;

/// Serves the demo agent until Ctrl-C. It writes to the Neo4j of the environment, where a job's Cypher finds what it did.
pub(super) fn demo_agent(args: &DemoAgentArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    if let Some(refusal) = missing_feature(DemoConfig::ABSENT.or(Neo4jConfig::ABSENT)) {
        return Err(CliError::Unprepared(refusal));
    }
    let graph = Arc::new(database(context)?);
    let runtime = runtime()?;
    let signals = Signals::listen(printer.clone())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    runtime.block_on(async {
        graph.read("RETURN 1", &Parameters::new()).await.map_err(CliError::Database)?;
        let agent = DemoAgent::start_on(address, graph, context.clock)
            .await
            .map_err(|source| CliError::Unservable { address, source })?;
        printer.note(&format!("the demo agent listens at {}; Ctrl-C ends it", agent.base_url()));
        signals.interrupt.cancelled().await;
        agent.stop().await;
        Ok(0)
    })
}

fn database(context: &Context) -> Result<Neo4jGraph, CliError> {
    let refused = |what: String, help: &str| CliError::Unprepared(Refusal::new(what, help));
    let Some(uri) = &context.credentials.neo4j_uri else {
        return Err(refused(
            "there is no NEO_URI, and the demo agent needs a Neo4j to write to".to_owned(),
            "set NEO_URI, NEO_USERNAME and NEO_PASSWORD; or evaluate it without a server, by a job with target.demo",
        ));
    };
    neo4j::check(uri).map_err(|problem| refused(format!("NEO_URI: {problem}"), "correct it in the environment"))?;
    let connection = neo4j_connection(&Neo4jConfig::default(), &context.credentials);
    Neo4jGraph::connect(connection, Neo4jLimits::default()).map_err(CliError::Database)
}
