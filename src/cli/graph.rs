//! `eval-job graph serve`

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::args::GraphServeArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::run::runtime;
use super::signals::Signals;
use crate::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use crate::graph::embedded::{EmbeddedConfig, EmbeddedGraph, EmbeddedLimits};
use crate::plan::missing_feature;
use crate::secret::Secret;

/// Serves an empty graph over Bolt until Ctrl-C. The user is `neo4j`; the password is that of the environment, or drawn
/// and reported.
pub(super) fn serve(args: &GraphServeArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    if let Some(refusal) = missing_feature(EmbeddedConfig::ABSENT) {
        return Err(CliError::Unprepared(refusal));
    }
    let limits = EmbeddedLimits { memory: args.memory.bytes(), ..EmbeddedLimits::default() };
    let graph = EmbeddedGraph::shareable(limits).map_err(CliError::Database)?;
    let own = context.credentials.neo4j_password.clone();
    let password = own.clone().unwrap_or_else(drawn);
    let settings = BoltSettings {
        port: (args.port != 0).then_some(args.port),
        username: "neo4j".to_owned(),
        password: password.clone(),
        limits: BoltLimits::default(),
        clock: context.clock,
    };
    let runtime = runtime()?;
    let signals = Signals::listen(printer.clone())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    runtime.block_on(async {
        let door =
            BoltServer::open(&graph, settings).await.map_err(|source| CliError::Unservable { address, source })?;
        let uri = door.uri();
        // The one place that shows a password: one that was drawn for this graph alone. The user's own is not shown.
        let shown = if own.is_none() { format!("NEO_PASSWORD={}\n", password.expose()) } else { String::new() };
        printer.data_with_password(&format!("NEO_URI={uri}\nNEO_USERNAME=neo4j\n{shown}"))?;
        printer.note(&format!("an empty graph is served at {uri}; Ctrl-C ends it and nothing is kept"));
        signals.interrupt.cancelled().await;
        door.stop().await;
        Ok(0)
    })
}

fn drawn() -> Secret {
    Secret::new(format!("{:014x}{:014x}", Context::random(), Context::random()))
}
