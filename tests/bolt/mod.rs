//! The Bolt server, as others see it: the official drivers, neo4rs, and clients that misbehave.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]
#![expect(clippy::disallowed_methods, reason = "whether this is CI, and how long to fuzz, is in the environment")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod bad_clients;
mod contract;
mod neo4rs_driver;
mod official_drivers;

use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use eval_job::graph::embedded::{EmbeddedGraph, EmbeddedLimits};
use eval_job::graph::{Graph, Parameters, Value};
use eval_job::secret::Secret;

const PASSWORD: &str = "correct horse";

/// A fresh graph with a door.
async fn door(limits: BoltLimits) -> (EmbeddedGraph, BoltServer) {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits::default()).unwrap();
    let door = BoltServer::open(&graph, settings(limits)).await.unwrap();
    (graph, door)
}

fn settings(limits: BoltLimits) -> BoltSettings {
    BoltSettings {
        port: None,
        username: "neo4j".to_owned(),
        password: Secret::new(PASSWORD),
        limits,
        clock: Clock::system(),
    }
}

fn patient() -> BoltLimits {
    BoltLimits { turn: Duration::from_secs(60), ..BoltLimits::default() }
}

/// The one number that a query gives to the graph's owner.
async fn number(graph: &EmbeddedGraph, query: &str) -> i64 {
    let table = graph.read(query, &Parameters::new()).await.unwrap();
    let Value::Int(number) = table.rows[0][0] else { panic!("{table:?}") };
    number
}
