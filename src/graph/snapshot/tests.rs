use proptest::prelude::*;

use super::*;
use crate::evidence::{Change, ChangeTime, Entity};
use crate::graph::embedded::{AccessMode, EmbeddedGraph, EmbeddedLimits, Form, Timeouts};

const WHEN: ChangeTime = ChangeTime { turn: 1, late: false };

fn all() -> Window {
    Window::new(&WatchConfig::default(), 1000)
}

fn window(labels: &[&str], predicate: Option<&str>) -> Window {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    Window::new(&WatchConfig { labels, predicate: predicate.map(str::to_owned), max_nodes: None }, 1000)
}

async fn write(graph: &EmbeddedGraph, statement: &str) {
    graph.write(statement, &Parameters::new()).await.unwrap();
}

async fn take(graph: &EmbeddedGraph, window: &Window, previous: Option<&GraphSnapshot>) -> GraphSnapshot {
    GraphSnapshot::take(graph, window, &Parameters::new(), previous).await.unwrap().unwrap()
}

/// The changes that the writes make, as seen through the window, on one line each.
async fn seen(window: &Window, before: &str, writes: &[&str]) -> Vec<String> {
    let graph = EmbeddedGraph::new().unwrap();
    if !before.is_empty() {
        write(&graph, before).await;
    }
    let mut last = take(&graph, window, None).await;
    let mut seen = Vec::new();
    for statement in writes {
        write(&graph, statement).await;
        let next = take(&graph, window, Some(&last)).await;
        seen.extend(difference(&last, &next, WHEN).iter().map(line));
        last = next;
    }
    seen
}

fn line(change: &Change) -> String {
    match change {
        Change::Created { .. } => format!("+ {change}"),
        Change::Deleted { .. } => format!("- {change}"),
        Change::Changed { .. } => format!("~ {change}"),
    }
}

#[tokio::test]
async fn everything_that_can_happen_is_seen() {
    let before = "CREATE (a:A {n: 1, m: 2})-[:R {s: 1}]->(b:B), (a)-[:R {s: 2}]->(b), (:C {x: 1.5})";
    let seen = seen(
        &all(),
        before,
        &[
            "CREATE (:D {tags: ['x']})-[:S]->(:E)",
            "MATCH (a:A) SET a.n = 2, a.k = true REMOVE a.m",
            "MATCH (c:C) REMOVE c:C SET c:X, c.x = 2",
            "MATCH ()-[r:R {s: 2}]->() SET r.s = 3",
            "MATCH ()-[r:R {s: 1}]->() DELETE r",
            "MATCH (a:A) DETACH DELETE a",
        ],
    )
    .await;
    assert_eq!(
        seen,
        [
            "+ (:D {tags: ['x']})",
            "+ (:E)",
            "+ (:D {tags: ['x']})-[:S]->(:E)",
            "~ (:A) k: null → true, m: 2 → null, n: 1 → 2",
            "~ (:X) labels (:C) → (:X), x: 1.5 → 2",
            "~ (:A {k: true, …})-[:R]->(:B) s: 2 → 3",
            "- (:A {k: true, …})-[:R {s: 1}]->(:B)",
            "- (:A {k: true, …})-[:R {s: 3}]->(:B)",
            "- (:A {k: true, n: 2})",
        ]
    );
}

#[tokio::test]
async fn a_window_shows_its_nodes_and_their_relationships() {
    let before = "CREATE (a:A {user: 1})-[:R]->(b:B {user: 2}), (:A {user: 2})-[:R]->(b)";
    let writes = [
        "CREATE (:B {user: 1})",
        "CREATE (:A {user: 2})-[:S]->(:B)",
        "MATCH (a:A {user: 1}), (b:B) WHERE b.user = 2 CREATE (b)-[:S]->(a)",
        "MATCH (b:B {user: 2}) SET b.x = 1",
        "MATCH (:A {user: 2})-[r:R]->() DELETE r",
    ];
    let expected = ["+ (:B {user: 2})-[:S]->(:A {user: 1})"];
    assert_eq!(seen(&window(&["A"], Some("n.user = 1")), before, &writes).await, expected);
    let both = window(&["A", "Odd `label"], Some("n.user = 1 // mine"));
    assert_eq!(both.nodes.matches('`').count(), 6);
}

#[tokio::test]
async fn what_leaves_the_window_is_not_deleted_and_stays_in_sight() {
    let before = "CREATE (a:A {n: 1})-[:R]->(b:B), (a)-[:S]->(a)";
    let writes = [
        "MATCH (a:A) REMOVE a:A SET a:Z",
        "MATCH (z:Z) SET z.n = 2",
        "MATCH (z:Z)-[r:R]->() DELETE r",
        "MATCH (z:Z) DETACH DELETE z",
    ];
    let expected = [
        "~ (:Z {n: 1}) labels (:A) → (:Z)",
        "~ (:Z) n: 1 → 2",
        "- (:Z {n: 2})-[:R]->(:B)",
        "- (:Z {n: 2})-[:S]->(:Z {n: 2})",
        "- (:Z {n: 2})",
    ];
    assert_eq!(seen(&window(&["A"], None), before, &writes).await, expected);
}

#[tokio::test]
async fn the_embedded_graph_never_gives_an_id_twice() {
    let writes = [
        "MATCH (a:A) DETACH DELETE a; CREATE (:A {n: 1})-[:R]->(:B)",
        "MATCH ()-[r:R]->() DELETE r; MATCH (a:A), (b:B) CREATE (a)-[:R]->(b)",
    ];
    let expected = [
        "+ (:A {n: 1})",
        "+ (:B)",
        "+ (:A {n: 1})-[:R]->(:B)",
        "- (:A {n: 1})",
        "+ (:A {n: 1})-[:R]->(:B)",
        "- (:A {n: 1})-[:R]->(:B)",
    ];
    assert_eq!(seen(&all(), "CREATE (:A {n: 1})", &writes).await, expected);
}

#[tokio::test]
async fn an_unchanged_graph_is_not_looked_at_again() {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits::default()).unwrap();
    write(&graph, "CREATE (:A)").await;
    let first = take(&graph, &all(), None).await;
    graph.read("MATCH (n) RETURN n", &Parameters::new()).await.unwrap();
    graph.write("CREATE (:X) RETURN 1 / 0", &Parameters::new()).await.unwrap_err();
    assert_eq!(GraphSnapshot::take(&graph, &all(), &Parameters::new(), Some(&first)).await, Ok(None));
    // Whoever writes, by whichever way.
    let timeouts = Timeouts { statement: std::time::Duration::from_secs(20), turn: std::time::Duration::from_secs(20) };
    let mut session = graph.sessions().unwrap().session(Form::new(|_, _| {}));
    session.begin(AccessMode::Write);
    session.run_inside("CREATE (:B)", &Parameters::new(), timeouts).await.unwrap();
    assert_eq!(GraphSnapshot::take(&graph, &all(), &Parameters::new(), Some(&first)).await, Ok(None));
    session.commit().await.unwrap();
    let second = take(&graph, &all(), Some(&first)).await;
    let changes: Vec<String> = difference(&first, &second, WHEN).iter().map(line).collect();
    assert_eq!(changes, ["+ (:B)"]);
}

#[tokio::test]
async fn too_many_nodes_are_no_snapshot() {
    let graph = EmbeddedGraph::new().unwrap();
    write(&graph, "UNWIND range(1, 6) AS x CREATE (:A {x: x})").await;
    let most = |most| Window::new(&WatchConfig { max_nodes: Some(most), ..WatchConfig::default() }, 1000);
    let refused = GraphSnapshot::take(&graph, &most(5), &Parameters::new(), None).await.unwrap_err();
    assert_eq!(refused.to_string(), "it has more nodes than graph.watch.maxNodes allows (5)");
    assert_eq!(take(&graph, &most(6), None).await.nodes.len(), 6);
}

#[tokio::test]
async fn more_relationships_than_rows_and_a_wrong_predicate_are_no_snapshot() {
    let graph = EmbeddedGraph::with_limits(EmbeddedLimits { rows: 10, ..EmbeddedLimits::default() }).unwrap();
    write(&graph, "CREATE (:A)-[:R]->(:B)").await;
    for _ in 0..10 {
        write(&graph, "MATCH (a:A), (b:B) CREATE (a)-[:R]->(b)").await;
    }
    let refused = GraphSnapshot::take(&graph, &all(), &Parameters::new(), None).await.unwrap_err().to_string();
    assert!(refused.contains("limit"), "{refused}");
    let wrong = window(&[], Some("n.x = ("));
    let refused = GraphSnapshot::take(&graph, &wrong, &Parameters::new(), None).await.unwrap_err().to_string();
    assert!(refused.starts_with("with graph.watch.where: Syntax error"), "{refused}");
}

fn node(id: &str, label: &str, properties: &[(&str, i64)]) -> Node {
    Node {
        id: id.to_owned(),
        labels: vec![label.to_owned()],
        properties: properties.iter().map(|(name, value)| ((*name).to_owned(), Value::Int(*value))).collect(),
    }
}

fn snapshot(nodes: &[Node], relationships: &[(&str, &str, &str, &str)]) -> GraphSnapshot {
    let relationship = |(id, kind, start, end): &(&str, &str, &str, &str)| Relationship {
        id: (*id).to_owned(),
        kind: (*kind).to_owned(),
        start: (*start).to_owned(),
        end: (*end).to_owned(),
        properties: BTreeMap::new(),
    };
    GraphSnapshot {
        nodes: nodes.iter().map(|node| (node.id.clone(), node.clone())).collect(),
        relationships: relationships.iter().map(relationship).map(|found| (found.id.clone(), found)).collect(),
        ..GraphSnapshot::default()
    }
}

#[test]
fn an_id_that_was_given_twice_is_seen_through() {
    let lines = |before: &GraphSnapshot, after: &GraphSnapshot| {
        difference(before, after, WHEN).iter().map(line).collect::<Vec<_>>()
    };
    let (old, new) = (node("1", "A", &[("x", 1)]), node("1", "B", &[("x", 2)]));
    let others = [node("2", "C", &[]), node("3", "C", &[])];
    let with = |node: &Node| [vec![node.clone()], others.to_vec()].concat();
    assert_eq!(lines(&snapshot(&with(&old), &[]), &snapshot(&with(&new), &[])), ["+ (:B {x: 2})", "- (:A {x: 1})"]);
    // A relationship that stayed holds its node.
    let kept = [("7", "R", "1", "2")];
    let changed = ["~ (:B) labels (:A) → (:B), x: 1 → 2"];
    assert_eq!(lines(&snapshot(&with(&old), &kept), &snapshot(&with(&new), &kept)), changed);
    // Under the same id, but never the same relationship.
    let (before, after) = (snapshot(&others, &[("7", "R", "2", "3")]), snapshot(&others, &[("7", "R", "3", "2")]));
    assert_eq!(lines(&before, &after).len(), 2);
    // Where ids last, everything else may change.
    let lasting = |node: &Node| GraphSnapshot { lasting_ids: true, ..snapshot(&with(node), &[]) };
    assert_eq!(lines(&lasting(&old), &lasting(&new)), changed);
}

/// One thing that happens to a snapshot.
#[derive(Debug, Clone)]
enum Step {
    Create { label: u8, value: i64 },
    Join { from: usize, to: usize, kind: u8 },
    Set { node: usize, value: i64 },
    Label { node: usize },
    Separate { relationship: usize },
    Delete { node: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..3u8, 0..3i64).prop_map(|(label, value)| Step::Create { label, value }),
        (0..9usize, 0..9usize, 0..2u8).prop_map(|(from, to, kind)| Step::Join { from, to, kind }),
        (0..9usize, 0..3i64).prop_map(|(node, value)| Step::Set { node, value }),
        (0..9usize).prop_map(|node| Step::Label { node }),
        (0..9usize).prop_map(|relationship| Step::Separate { relationship }),
        (0..9usize).prop_map(|node| Step::Delete { node }),
    ];
    prop::collection::vec(step, 0..12)
}

/// Applies the steps to a model of the graph, and returns each as Cypher too. Every node has its number as `id`.
fn apply(model: &mut GraphSnapshot, next: &mut u64, steps: &[Step]) -> Vec<String> {
    let mut cypher = Vec::new();
    for step in steps {
        let nth = |at: usize| model.nodes.keys().nth(at % model.nodes.len().max(1)).cloned();
        *next += 1;
        match step {
            Step::Create { label, value } => {
                let label = format!("L{label}");
                let id = next.to_string();
                model.nodes.insert(id.clone(), node(&id, &label, &[("id", *next as i64), ("v", *value)]));
                cypher.push(format!("CREATE (:{label} {{id: {id}, v: {value}}})"));
            }
            Step::Join { from, to, kind } => {
                let (Some(start), Some(end)) = (nth(*from), nth(*to)) else { continue };
                let (id, kind) = (next.to_string(), format!("R{kind}"));
                cypher.push(format!(
                    "MATCH (a {{id: {start}}}), (b {{id: {end}}}) CREATE (a)-[:{kind} {{id: {id}}}]->(b)"
                ));
                let properties = BTreeMap::from([("id".to_owned(), Value::Int(*next as i64))]);
                model.relationships.insert(id.clone(), Relationship { id, kind, start, end, properties });
            }
            Step::Set { node, value } => {
                let Some(id) = nth(*node) else { continue };
                model.nodes.get_mut(&id).unwrap().properties.insert("v".to_owned(), Value::Int(*value));
                cypher.push(format!("MATCH (n {{id: {id}}}) SET n.v = {value}"));
            }
            Step::Label { node } => {
                let Some(id) = nth(*node) else { continue };
                let labels = &mut model.nodes.get_mut(&id).unwrap().labels;
                labels.push("Z".to_owned());
                labels.dedup();
                cypher.push(format!("MATCH (n {{id: {id}}}) SET n:Z"));
            }
            Step::Separate { relationship } => {
                let count = model.relationships.len().max(1);
                let Some(id) = model.relationships.keys().nth(relationship % count).cloned() else { continue };
                model.relationships.remove(&id);
                cypher.push(format!("MATCH ()-[r {{id: {id}}}]->() DELETE r"));
            }
            Step::Delete { node } => {
                let Some(id) = nth(*node) else { continue };
                model.nodes.remove(&id);
                model.relationships.retain(|_, found| found.start != id && found.end != id);
                cypher.push(format!("MATCH (n {{id: {id}}}) DETACH DELETE n"));
            }
        }
    }
    cypher
}

/// The changes in any order, without the backend's ids.
fn lines(changes: &[Change]) -> Vec<String> {
    let mut lines: Vec<String> = changes.iter().map(line).collect();
    lines.sort();
    lines
}

/// The snapshot with the changes made to it.
fn redone(before: &GraphSnapshot, changes: &[Change]) -> GraphSnapshot {
    let mut redone = before.clone();
    for change in changes {
        match (change, change.entity()) {
            (Change::Deleted { .. }, Entity::Node(node)) => _ = redone.nodes.remove(&node.id),
            (Change::Deleted { .. }, Entity::Relationship { relationship, .. }) => {
                redone.relationships.remove(&relationship.id);
            }
            (_, Entity::Node(node)) => _ = redone.nodes.insert(node.id.clone(), node.clone()),
            (_, Entity::Relationship { relationship, .. }) => {
                redone.relationships.insert(relationship.id.clone(), relationship.clone());
            }
        }
    }
    redone
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_difference_is_what_was_done(first in steps(), then in steps(), lasting: bool) {
        let (mut before, mut next) = (GraphSnapshot { lasting_ids: lasting, ..GraphSnapshot::default() }, 0);
        apply(&mut before, &mut next, &first);
        let mut after = before.clone();
        apply(&mut after, &mut next, &then);
        let changes = difference(&before, &after, WHEN);
        prop_assert_eq!(redone(&before, &changes), after.clone());
        prop_assert_eq!(difference(&after, &after, WHEN), vec![]);
        let back = difference(&after, &before, WHEN);
        prop_assert_eq!(back.len(), changes.len());
        prop_assert_eq!(redone(&after, &back), before);
    }

    #[test]
    fn the_embedded_graph_changes_as_the_model_does(first in steps(), then in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let graph = EmbeddedGraph::new().unwrap();
            let (mut model, mut next) = (GraphSnapshot { lasting_ids: true, ..GraphSnapshot::default() }, 0);
            for statement in apply(&mut model, &mut next, &first) {
                write(&graph, &statement).await;
            }
            let (all, some) = (all(), window(&["L0", "L1", "L2"], Some("n.id > 0")));
            let (before, before_some) = (take(&graph, &all, None).await, take(&graph, &some, None).await);
            let model_before = model.clone();
            let writes = apply(&mut model, &mut next, &then);
            for statement in &writes {
                write(&graph, statement).await;
            }
            if writes.is_empty() {
                return;
            }
            let (after, after_some) =
                (take(&graph, &all, Some(&before)).await, take(&graph, &some, Some(&before_some)).await);
            let expected = lines(&difference(&model_before, &model, WHEN));
            assert_eq!(lines(&difference(&before, &after, WHEN)), expected);
            // A window that happens to show all shows the same.
            assert_eq!(lines(&difference(&before_some, &after_some, WHEN)), expected);
        });
    }
}

#[tokio::test]
async fn a_label_that_is_a_keyword_is_watched() {
    let created = seen(&window(&["Order"], None), "", &["CREATE (:Order {id: 1}), (:Set {id: 2})"]).await;
    assert_eq!(created, ["+ (:Order {id: 1})"]);
    let several = seen(&window(&["Order", "Set"], None), "", &["CREATE (:Order {id: 1}), (:Set {id: 2})"]).await;
    assert_eq!(several.len(), 2, "{several:?}");
}
