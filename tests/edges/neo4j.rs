//! The Neo4j client on a real server: what it tries again, how much it does at once, and what it never does.

use eval_job::graph::neo4j::{Neo4jConnection, Neo4jGraph, Neo4jLimits};
use eval_job::graph::{Graph, GraphErrorKind, Parameters};
use eval_job::secret::Secret;

use crate::servers::neo4j;

/// Takes one lock, lingers, takes the other.
fn crossing(first: &str, second: &str) -> String {
    format!(
        "MATCH (a:{first}) SET a.n = a.n + 1 WITH a UNWIND range(1, 100000) AS i WITH a, count(i) AS lingered \
         MATCH (b:{second}) SET b.n = b.n + 1"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_tried_again_and_nothing_is_done_twice() {
    let Some(database) = neo4j::database("a_deadlock_is_tried_again_and_nothing_is_done_twice").await else { return };
    database.server.write("CREATE (:One {n: 0}), (:Other {n: 0})").await;
    let graph = std::sync::Arc::new(database.server.graph());
    let mut crossings = tokio::task::JoinSet::new();
    for number in 0..12 {
        let graph = graph.clone();
        let statement = if number % 2 == 0 { crossing("One", "Other") } else { crossing("Other", "One") };
        crossings.spawn(async move { graph.write(&statement, &Parameters::new()).await });
    }
    for result in crossings.join_all().await {
        result.unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(database.server.value("MATCH (a:One), (b:Other) RETURN [a.n, b.n]").await, "[12, 12]");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_finds_no_connection_waits_and_is_served() {
    let Some(database) = neo4j::database("whoever_finds_no_connection_waits_and_is_served").await else { return };
    let graph = std::sync::Arc::new(database.server.graph());
    let mut readers = tokio::task::JoinSet::new();
    for number in 0..200 {
        let graph = graph.clone();
        readers.spawn(async move {
            let table = graph.read(&format!("RETURN {number}"), &Parameters::new()).await;
            table.unwrap_or_else(|error| panic!("{error}")).rows[0][0].to_string()
        });
    }
    assert_eq!(readers.join_all().await.len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_given_up_holds_no_lock() {
    let Some(database) = neo4j::database("a_write_that_was_given_up_holds_no_lock").await else { return };
    let server = &database.server;
    server.write("CREATE (:One), (:Other)").await;
    let driver = neo4rs::Graph::new(&server.uri, &server.username, &server.password).unwrap();
    let mut holder = driver.start_txn().await.unwrap();
    holder.run("MATCH (n:Other) SET n.held = true").await.unwrap();

    let none = Parameters::new();
    let graph = server.graph_with(std::time::Duration::from_secs(2));
    // Several connections, as a run has them.
    futures_util::future::join_all((0..5).map(|_| graph.read("RETURN 1", &none))).await;
    let error = graph.write("MATCH (n:One) SET n.x = 1; MATCH (n:Other) SET n.x = 1", &none).await.unwrap_err();
    assert_eq!(error.kind, GraphErrorKind::Limit, "{error}");
    // It would wait for the lock of the one that was given up.
    server.graph_with(std::time::Duration::from_secs(10)).write("MATCH (n:One) SET n.x = 2", &none).await.unwrap();
    holder.rollback().await.unwrap();
    assert_eq!(server.value("MATCH (a:One), (b:Other) RETURN [a.x, b.x]").await, "[2, null]");
    graph.write("MATCH (n:One) SET n.x = 3", &none).await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_told_without_it() {
    let Some(database) = neo4j::database("a_wrong_password_is_told_without_it").await else { return };
    let connection = Neo4jConnection {
        uri: database.server.uri.clone(),
        username: database.server.username.clone(),
        password: Secret::new("s3cret"),
        database: None,
    };
    let graph = Neo4jGraph::connect(connection, Neo4jLimits::default()).unwrap();
    let error = graph.read("RETURN 1", &Parameters::new()).await.unwrap_err();
    assert_eq!(error.kind, GraphErrorKind::Unauthorized, "{error}");
    assert!(!error.message.contains("s3cret"), "{error}");
}
