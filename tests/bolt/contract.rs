//! The contract of all graphs, through the door: our own Neo4j client against an embedded graph. What comes out is what
//! the embedded graph gives its owner.

use async_trait::async_trait;
use eval_job::graph::bolt::BoltServer;
use eval_job::graph::embedded::EmbeddedGraph;
use eval_job::graph::neo4j::{Neo4jConnection, Neo4jGraph, Neo4jLimits};
use eval_job::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table};
use eval_job::secret::Secret;

use super::{PASSWORD, door, patient};
use crate::contract;

/// An embedded graph that is reached by the Neo4j client.
struct Doored {
    client: Neo4jGraph,
    _door: BoltServer,
    _graph: EmbeddedGraph,
}

#[async_trait]
impl Graph for Doored {
    fn backend(&self) -> &'static str {
        "embedded"
    }

    async fn read(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        self.client.read(statement, parameters).await.map_err(told)
    }

    async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        self.client.write(statement, parameters).await.map_err(told)
    }
}

/// Neo4j has no code for what only others know; the door uses two, and a client sees in them a wrong statement. The
/// second is also the one for a procedure that nobody has.
fn told(error: GraphError) -> GraphError {
    let codes = ["Neo.ClientError.Statement.UnsupportedOperationError", "Neo.ClientError.Procedure.ProcedureNotFound"];
    let elsewhere = error.message.contains("it runs on Neo4j");
    match elsewhere && codes.iter().any(|code| error.message.contains(code)) {
        true => GraphError { kind: GraphErrorKind::Unsupported, ..error },
        false => error,
    }
}

#[tokio::test]
async fn the_embedded_graph_keeps_the_contract_through_its_door() {
    let fresh = async || {
        let (graph, door) = door(patient()).await;
        let connection = Neo4jConnection {
            uri: door.uri(),
            username: "neo4j".to_owned(),
            password: Secret::new(PASSWORD),
            database: None,
        };
        let client = Neo4jGraph::connect(connection, Neo4jLimits::default()).unwrap();
        Box::new(Doored { client, _door: door, _graph: graph }) as Box<dyn Graph>
    };
    contract::run::run_contract(&contract::cases(), fresh).await;
}
