//! Snapshots of real graphs.

use eval_job::clock::Clock;
use eval_job::evidence::{Change, ChangeTime};
use eval_job::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use eval_job::graph::embedded::{EmbeddedGraph, EmbeddedLimits};
use eval_job::graph::snapshot::{GraphSnapshot, Window, difference};
use eval_job::graph::{Graph, Parameters, WatchConfig};
use eval_job::secret::Secret;
use neo4rs::{ConfigBuilder, query};

use crate::servers::neo4j;

const WHEN: ChangeTime = ChangeTime { turn: 1, late: false };

/// The window's labels and predicate, what is there before, and what is written, one look after each.
type Story = (&'static [&'static str], Option<&'static str>, &'static str, &'static [&'static str]);

const STORIES: [Story; 4] = [
    (
        &[],
        None,
        "CREATE (a:A {n: 1, list: [1, 2], on: date('2026-03-01')})-[:R {s: 1}]->(b:B), (a)-[:R {s: 2}]->(b), (:C)-[:S]->(a)",
        &[
            "CREATE (:D {at: datetime('2026-03-01T09:00:00+11:00'), x: 1.5})-[:S]->(:E:F)",
            "MATCH (a:A) SET a.n = 1.0, a.k = true, a.list = [1] REMOVE a.on",
            "MATCH (c:C) REMOVE c:C SET c:X:Y",
            "MATCH ()-[r:R {s: 2}]->() SET r.s = 3",
            "MATCH ()-[r:R {s: 1}]->() DELETE r",
            "MATCH (a:A) SET a.n = 1.0",
            "MATCH (a:A) DETACH DELETE a",
            "MATCH (n) DETACH DELETE n",
        ],
    ),
    (
        &["A"],
        Some("n.user = $user // mine"),
        "CREATE (a:A {user: 'u'})-[:R]->(b:B {user: 'v'}), (:A {user: 'v'})-[:R]->(b)",
        &[
            "CREATE (:B {user: 'u'}), (:A {user: 'v'})-[:S]->(:B)",
            "MATCH (a:A {user: 'u'}), (b:B {user: 'v'}) CREATE (b)-[:S]->(a), (a)-[:T]->(a)",
            "MATCH (b:B {user: 'v'}) SET b.x = 1",
            "MATCH (a:A {user: 'u'}) SET a.user = 'w'",
            "MATCH (a:A {user: 'w'})-[r:R]->() DELETE r SET a.x = 1",
            "MATCH (a:A {user: 'w'}) DETACH DELETE a",
            "CREATE (:A {user: 'u'})",
        ],
    ),
    (
        &["A", "B"],
        None,
        "CREATE (:A)-[:R]->(:C), (:B), (:C)",
        &["MATCH (n) SET n.x = 1", "CREATE (:A:B {y: 1})", "MATCH (n:B) REMOVE n:B"],
    ),
    (&[], None, "", &["CREATE ({x: 1})-[:R]->()", "MATCH (n) DETACH DELETE n"]),
];

fn lines(before: &GraphSnapshot, after: &GraphSnapshot) -> Vec<String> {
    let line = |change: &Change| match change {
        Change::Created { .. } => format!("+ {change}"),
        Change::Deleted { .. } => format!("- {change}"),
        Change::Changed { .. } => format!("~ {change}"),
    };
    let mut lines: Vec<String> = difference(before, after, WHEN).iter().map(line).collect();
    lines.sort();
    lines
}

async fn told(graph: &dyn Graph) -> Vec<Vec<Vec<String>>> {
    let parameters = Parameters::from([("user".to_owned(), "u".into())]);
    let mut told = Vec::new();
    for (labels, predicate, before, writes) in STORIES {
        graph.write("MATCH (n) DETACH DELETE n", &Parameters::new()).await.unwrap();
        if !before.is_empty() {
            graph.write(before, &Parameters::new()).await.unwrap();
        }
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let config = WatchConfig { labels, predicate: predicate.map(str::to_owned), max_nodes: None };
        let window = Window::new(&config, 100);
        let mut last = GraphSnapshot::take(graph, &window, &parameters, None).await.unwrap().unwrap();
        let mut story = Vec::new();
        for write in writes {
            graph.write(write, &Parameters::new()).await.unwrap();
            let next = GraphSnapshot::take(graph, &window, &parameters, Some(&last)).await.unwrap().unwrap();
            story.push(lines(&last, &next));
            last = next;
        }
        told.push(story);
    }
    told
}

#[tokio::test]
async fn both_backends_tell_the_same_story() {
    let test = "both_backends_tell_the_same_story";
    let embedded = told(&EmbeddedGraph::new().unwrap()).await;
    assert_eq!(embedded[0][3], ["~ (:A {k: true, …})-[:R]->(:B) s: 2 → 3"]);
    assert!(embedded[0][5].is_empty(), "what is set to what it was has not changed: {:?}", embedded[0][5]);
    assert_eq!(embedded[1][0], Vec::<String>::new(), "out of sight");
    assert_eq!(embedded[1][3], ["~ (:A) user: 'u' → 'w'"], "what leaves the window is not deleted");
    let Some(database) = neo4j::database(test).await else { return };
    assert_eq!(told(&database.server.graph()).await, embedded);
}

/// Neo4j gives ids again when their transactions are long over.
#[tokio::test]
async fn an_id_that_neo4j_gives_again_is_another_node() {
    let Some(database) = neo4j::database("an_id_that_neo4j_gives_again_is_another_node").await else { return };
    let graph = database.server.graph();
    let window = Window::new(&WatchConfig::default(), 1000);
    let look = async || GraphSnapshot::take(&graph, &window, &Parameters::new(), None).await.unwrap().unwrap();
    database.server.write("CREATE (:Old {x: 1})").await;
    let mut last = look().await;
    // Each round deletes one and creates another: whatever ids they get, that is what is seen.
    for round in 0..20 {
        let (old, new) = if round % 2 == 0 { ("Old", "New") } else { ("New", "Old") };
        database.server.write(&format!("MATCH (n:{old}) DETACH DELETE n")).await;
        database.server.write(&format!("CREATE (:{new} {{y{round}: {round}}})")).await;
        let next = look().await;
        let lines = lines(&last, &next);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].starts_with(&format!("+ (:{new}")) && lines[1].starts_with(&format!("- (:{old}")),
            "{lines:?}"
        );
        last = next;
    }
}

#[tokio::test]
async fn what_is_written_through_the_bolt_door_is_seen() {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits::default()).unwrap();
    let settings = BoltSettings {
        port: None,
        username: "neo4j".to_owned(),
        password: Secret::new("pass"),
        limits: BoltLimits::default(),
        clock: Clock::system(),
    };
    let door = BoltServer::open(&graph, settings).await.unwrap();
    let config = ConfigBuilder::default().uri(door.uri()).user("neo4j").password("pass").build().unwrap();
    let driver = neo4rs::Graph::connect(config).unwrap();
    let window = Window::new(&WatchConfig::default(), 1000);
    let none = Parameters::new();
    let first = GraphSnapshot::take(&graph, &window, &none, None).await.unwrap().unwrap();
    let mut rows = driver.execute(query("MATCH (n) RETURN n")).await.unwrap();
    assert!(rows.next().await.unwrap().is_none());
    assert_eq!(
        GraphSnapshot::take(&graph, &window, &none, Some(&first)).await,
        Ok(None),
        "reading is no reason to look"
    );

    driver.run(query("CREATE (:A {x: 1})-[:R]->(:B)")).await.unwrap();
    let second = GraphSnapshot::take(&graph, &window, &none, Some(&first)).await.unwrap().unwrap();
    assert_eq!(lines(&first, &second), ["+ (:A {x: 1})", "+ (:A {x: 1})-[:R]->(:B)", "+ (:B)"]);

    // Not before it is committed, and not at all when it is undone.
    let mut transaction = driver.start_txn().await.unwrap();
    transaction.run(query("MATCH (a:A) SET a.x = 2")).await.unwrap();
    assert_eq!(GraphSnapshot::take(&graph, &window, &none, Some(&second)).await, Ok(None));
    transaction.rollback().await.unwrap();
    assert_eq!(GraphSnapshot::take(&graph, &window, &none, Some(&second)).await, Ok(None));
    let mut transaction = driver.start_txn().await.unwrap();
    transaction.run(query("MATCH (a:A) SET a.x = 2")).await.unwrap();
    transaction.commit().await.unwrap();
    let third = GraphSnapshot::take(&graph, &window, &none, Some(&second)).await.unwrap().unwrap();
    assert_eq!(lines(&second, &third), ["~ (:A) x: 1 → 2"]);
    door.stop().await;
}
