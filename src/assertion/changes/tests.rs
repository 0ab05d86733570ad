use serde_json::{Value as Json, json};

use super::*;
use crate::evidence::{ChangeTime, Entity, Node, Relationship, Value};

fn node(label: &str, properties: &[(&str, Value)]) -> Node {
    Node {
        id: "1".to_owned(),
        labels: label.split(':').map(str::to_owned).collect(),
        properties: properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
    }
}

fn at(turn: u32) -> ChangeTime {
    ChangeTime { turn, late: false }
}

fn created(turn: u32, label: &str, properties: &[(&str, Value)]) -> Change {
    Change::Created { when: at(turn), entity: Entity::Node(node(label, properties)) }
}

fn joined(turn: u32, kind: &str, from: &str, to: &str) -> Change {
    let relationship = Relationship {
        id: "7".to_owned(),
        kind: kind.to_owned(),
        start: "1".to_owned(),
        end: "2".to_owned(),
        properties: Default::default(),
    };
    let entity = Entity::Relationship { relationship, from: node(from, &[]), to: node(to, &[]) };
    Change::Created { when: at(turn), entity }
}

fn deleted(turn: u32, label: &str) -> Change {
    Change::Deleted { when: at(turn), entity: Entity::Node(node(label, &[])) }
}

fn changed(turn: u32, before: Node, after: Node) -> Change {
    Change::Changed { when: at(turn), before: Box::new(Entity::Node(before)), after: Box::new(Entity::Node(after)) }
}

fn check(config: Json) -> ChangesConfig {
    serde_json::from_value(config).unwrap()
}

fn result(config: Json, changes: Vec<Change>) -> (Option<f64>, String) {
    let evidence = Evidence { changes: Some(Observed::Seen(changes)), ..Evidence::sample() };
    let component = evaluate(&check(config), &evidence);
    (component.score().map(Score::get), component.why().to_owned())
}

#[track_caller]
fn holds(config: Json, changes: Vec<Change>) {
    let (score, why) = result(config, changes);
    assert_eq!(score, Some(1.0), "{why}");
}

#[track_caller]
fn fails(config: Json, changes: Vec<Change>, expected: &str) {
    assert_eq!(result(config, changes), (Some(0.0), expected.to_owned()));
}

fn call_ada(turn: u32) -> Change {
    created(turn, "Reminder", &[("title", "Call Ada".into()), ("n", 1_i64.into())])
}

#[test]
fn what_is_asked_for_and_nothing_else() {
    let config = json!({
        "created": [
            {"node": "Reminder", "where": {"title": "Call Ada"}, "count": 1},
            {"relationship": "HAS_REMINDER", "count": 1}
        ],
        "turn": 4
    });
    let both = vec![call_ada(4), joined(4, "HAS_REMINDER", "User", "Reminder")];
    assert_eq!(result(config.clone(), both.clone()), (Some(1.0), "created 2, nothing else".to_owned()));
    fails(
        config.clone(),
        vec![],
        "created 0 (:Reminder {title: \"Call Ada\"}), expected 1; created 0 ()-[:HAS_REMINDER]->(), expected 1",
    );
    let with = |change: Change| [both.clone(), vec![change]].concat();
    fails(
        config.clone(),
        with(created(3, "Contact", &[("name", "Ada".into())])),
        "also created (:Contact {name: 'Ada'}) in turn 3",
    );
    fails(config.clone(), with(call_ada(4)), "created 2 (:Reminder {title: \"Call Ada\"}), expected 1");
    fails(config.clone(), with(deleted(4, "User")), "also deleted (:User) in turn 4");
    let grown = changed(4, node("User", &[]), node("User", &[("x", 1_i64.into())]));
    fails(config.clone(), with(grown), "also changed (:User) x: null → 1 in turn 4");
    fails(
        config,
        vec![call_ada(3), joined(4, "HAS_REMINDER", "User", "Reminder")],
        "created (:Reminder {n: 1, title: 'Call Ada'}) in turn 3, but only turn 4 may change the graph",
    );
}

#[test]
fn without_expectations_nothing_may_happen() {
    holds(json!({}), vec![]);
    holds(json!({"created": "none", "deleted": [], "changed": "none"}), vec![]);
    fails(json!({}), vec![deleted(2, "A")], "also deleted (:A) in turn 2");
    holds(json!({"created": "any", "deleted": "any", "changed": "any"}), vec![call_ada(1), deleted(2, "A")]);
    fails(json!({"deleted": []}), vec![deleted(2, "A")], "also deleted (:A) in turn 2");
}

#[test]
fn lines_are_independent() {
    let config = json!({"created": [
        {"node": "A"}, {"node": ["A", "B"], "count": {"min": 1, "max": 2}}, {"node": "B", "where": {"x": {"min": 2}}, "count": {"min": 0}}
    ]});
    holds(config.clone(), vec![created(1, "A:B", &[("x", 3_i64.into())])]);
    fails(
        config,
        vec![created(1, "B", &[("x", 1_i64.into())])],
        "created 0 (:A), expected at least 1; created 0 (:A:B), expected 1 to 2; also created (:B {x: 1}) in turn 1",
    );
}

#[test]
fn the_ends_of_a_relationship() {
    let config =
        json!({"created": [{"relationship": "R", "from": {"node": "A"}, "to": {"node": "B", "where": {"x": null}}}]});
    holds(config.clone(), vec![joined(1, "R", "A", "B")]);
    let why = "created 0 (:A)-[:R]->(:B {x: null}), expected at least 1; also created (:B)-[:R]->(:A) in turn 1";
    fails(config, vec![joined(1, "R", "B", "A")], why);
}

#[test]
fn only_what_is_set_may_differ() {
    let config = json!({"changed": [{"node": "C", "where": {"name": "Ada"}, "set": {"phone": "2"}}]});
    let ada = |phone: &str, n: i64| node("C", &[("name", "Ada".into()), ("phone", phone.into()), ("n", n.into())]);
    holds(config.clone(), vec![changed(1, ada("1", 0), ada("2", 0))]);
    let missing = "changed 0 (:C {name: \"Ada\"}) set {phone: \"2\"}, expected at least 1; also changed ";
    fails(
        config.clone(),
        vec![changed(1, ada("1", 0), ada("3", 0))],
        &format!("{missing}(:C {{n: 0, name: 'Ada'}}) phone: '1' → '3' in turn 1"),
    );
    fails(
        config.clone(),
        vec![changed(1, ada("1", 0), ada("2", 7))],
        &format!("{missing}(:C {{name: 'Ada'}}) n: 0 → 7, phone: '1' → '2' in turn 1"),
    );
    let relabelled = Node { labels: vec!["C".into(), "D".into()], ..ada("2", 0) };
    let (score, _) = result(config, vec![changed(1, ada("1", 0), relabelled.clone())]);
    assert_eq!(score, Some(0.0));
    holds(json!({"changed": [{"node": ["C", "D"]}]}), vec![changed(1, ada("1", 0), relabelled)]);
}

#[test]
fn what_comes_late_is_in_no_turn() {
    let late = Change::Created { when: ChangeTime { turn: 4, late: true }, entity: Entity::Node(node("A", &[])) };
    holds(json!({"created": [{"node": "A"}]}), vec![late.clone()]);
    fails(
        json!({"created": [{"node": "A"}], "turn": {"min": 3}}),
        vec![late.clone()],
        "created (:A) after the reply of turn 4, but only turn 3 and later may change the graph",
    );
    fails(json!({}), vec![late], "also created (:A) after the reply of turn 4");
}

#[test]
fn a_long_list_is_cut() {
    let (_, why) = result(json!({}), (1..=17).map(|turn| deleted(turn, "A")).collect());
    assert_eq!(why.matches("also").count(), 5);
    assert!(why.ends_with("in turn 5; and 12 more"), "{why}");
}

#[test]
fn a_graph_that_was_not_watched_is_missing() {
    let unwatched = evaluate(&check(json!({})), &Evidence::sample());
    assert_eq!((unwatched.is_missing(), unwatched.why()), (true, "the graph was not watched"));
    let failed = Evidence { changes: Some(Observed::Failed("too large".to_owned())), ..Evidence::sample() };
    let failed = evaluate(&check(json!({})), &failed);
    assert_eq!((failed.is_missing(), failed.why()), (true, "the graph could not be watched: too large"));
}

#[test]
fn a_label_says_it_all_on_one_line() {
    let config = json!({
        "created": [{"node": "A", "where": {"x": {"type": "string", "regex": "a.*"}, "y": 1}}, {"relationship": "R"}],
        "deleted": "any",
        "turn": {"min": 2, "max": 3}
    });
    assert_eq!(
        label(&check(config)),
        "created (:A {x: <type: string, regex: \"a.*\">, y: 1}), ()-[:R]->(); deleted anything; changed nothing; in turns 2 to 3"
    );
}
