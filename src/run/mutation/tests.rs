use super::mutant::mutants;
use super::*;
use crate::evidence::{Change, ChangeTime, Entity, Node, Relationship, Temporal, TemporalKind};
use crate::job::{PromptRole, TemplateCheck, TemplateProblem, load};
use crate::record::MutationKind;

struct AnyTemplate;

impl TemplateCheck for AnyTemplate {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

const WHEN: ChangeTime = ChangeTime { turn: 1, late: false };

fn node(id: &str, label: &str, properties: &[(&str, Value)]) -> Node {
    let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Node { id: id.to_owned(), labels: vec![label.to_owned()], properties }
}

fn user() -> Node {
    node("4:x:7", "User", &[("id", "u".into())])
}

/// A trip with a date, a price and stops, which a user who was there before takes.
fn booked() -> Vec<Change> {
    let date = Value::Temporal(Temporal { kind: TemporalKind::Date, text: "2028-02-29".to_owned() });
    let stops: Value = vec!["Bergen".to_owned(), "Oslo".to_owned()].into();
    let trip = node(
        "4:x:8",
        "Trip",
        &[
            ("to", "Lisbon".into()),
            ("seats", 2_i64.into()),
            ("price", 1.5.into()),
            ("paid", true.into()),
            ("on", date),
            ("stops", stops),
        ],
    );
    let relationship = Relationship {
        id: "5:x:1".to_owned(),
        kind: "TAKES".to_owned(),
        start: user().id,
        end: trip.id.clone(),
        properties: Default::default(),
    };
    vec![
        Change::Created { when: WHEN, entity: Entity::Node(trip.clone()) },
        Change::Created { when: WHEN, entity: Entity::Relationship { relationship, from: user(), to: trip } },
    ]
}

async fn tried(setup: &str, assertions: &str, changes: Vec<Change>) -> MutatedTrial {
    tried_with(setup, assertions, changes, Vec::new()).await
}

async fn tried_with(
    setup: &str,
    assertions: &str,
    changes: Vec<Change>,
    user_tool_calls: Vec<crate::evidence::UserToolCall>,
) -> MutatedTrial {
    let text = format!(
        "target: {{user: u, chatbot: c}}\nfacts: []\nevaluator: {{script: [Hi]}}\nsetups: [{setup}]\nassertions:\n{assertions}\nmetrics: [assertions]\n"
    );
    let job = load("job.yml", &text, &AnyTemplate).unwrap_or_else(|problems| panic!("{problems:?}"));
    let trial = TrialId {
        number: 1,
        case: "job".to_owned(),
        model: "m".to_owned(),
        condition: crate::evidence::Condition::WithoutFacts,
        repeat: 1,
    };
    let mut evidence = Evidence::new("s".to_owned(), "u".to_owned(), &trial);
    evidence.changes = Some(Observed::Seen(changes));
    evidence.user_tool_calls = user_tool_calls;
    let case = job.cases[0].clone();
    // What the conversation's own graph returned.
    let recorded =
        RecordedTrial { run: "r", job: &job, case: &case, trial: &trial, evidence: &evidence, clock: Clock::system() };
    let Some(Observed::Seen(changes)) = &evidence.changes else { unreachable!() };
    let history = History::new(recorded.before().await.unwrap_or_default(), changes);
    let all: Vec<&Assertion> = case.assertions.iter().collect();
    let seen = recorded.seen_in(&history, &all).await.unwrap();
    let evidence = Evidence { queries: seen.queries, ..evidence.clone() };
    mutate(RecordedTrial { evidence: &evidence, ..recorded }).await
}

const USER: &str = "{cypher: \"CREATE (:User {id: $user})\"}";

fn missed(trial: &MutatedTrial) -> Vec<String> {
    let line = |it: &MissedMutant| format!("{} {}", it.kind.as_str(), it.altered.clone().unwrap_or_default());
    trial.missed.iter().map(line).collect()
}

#[tokio::test]
async fn a_strict_assertion_notices_all() {
    let strict = "  - {cypher: \"MATCH (t:Trip) OPTIONAL MATCH (u:User {id: $user})-[r:TAKES]->(t) RETURN t.to, t.seats, t.price, t.paid, toString(t.on), t.stops, count(r)\", \
                  expected: [[Lisbon, 2, 1.5, true, '2028-02-29', [Bergen, Oslo], 1]]}";
    let trial = tried(USER, strict, booked()).await;
    assert_eq!(trial.not_mutated, None);
    // Trip: removed, doubled, a label and six properties; relationship: removed, doubled, its type.
    assert_eq!((trial.mutants, missed(&trial)), (12, Vec::new()));
}

#[tokio::test]
async fn what_the_users_own_tools_changed_too_is_not_made_again() {
    let created = booked().remove(0);
    let call = crate::evidence::UserToolCall {
        turn: 1,
        name: "toggle".to_owned(),
        arguments: serde_json::json!({}),
        result: Some(true.into()),
        changes: vec![created.clone()],
    };
    let lax = "  - {cypher: \"MATCH (t:Trip) RETURN count(t) > 0\", expected: true}";
    let trial = tried_with(USER, lax, booked(), vec![call]).await;
    let Some(NotMutated::Unknown(why)) = &trial.not_mutated else { panic!("{trial:?}") };
    assert!(why.starts_with("the user's own tools changed the graph too"), "{why}");
}

#[tokio::test]
async fn one_that_looks_for_existence_misses_what_is_altered_and_doubled() {
    let lax = "  - {cypher: \"MATCH (t:Trip) RETURN count(t) > 0\", expected: true}";
    let trial = tried(USER, lax, booked()).await;
    let missed = missed(&trial);
    assert_eq!(trial.mutants, 12);
    assert_eq!(trial.noticed(), 2, "removed, and the label: {missed:?}");
    for line in [
        "doubled ",
        "altered to: 'Lisbon' → 'altered'",
        "altered seats: 2 → 3",
        "altered paid: true → false",
        "altered type TAKES → altered",
    ] {
        assert!(missed.iter().any(|it| it == line), "{line} in {missed:?}");
    }
    assert!(trial.missed.iter().any(|it| it.change.starts_with("created (:User {id: 'u'})-[:TAKES]->(:Trip {")));
}

#[tokio::test]
async fn a_query_that_fails_on_a_mutant_has_noticed_nothing() {
    let failing = "  - {cypher: \"MATCH (t:Trip) RETURN 10 / (3 - t.seats)\", expected: 10}";
    let trial = tried(USER, failing, booked()).await;
    let not_measured = trial.not_measured.clone().unwrap();
    assert_eq!((not_measured.mutants, trial.mutants), (1, 11), "seats: 2 → 3 divides by zero: {not_measured:?}");
    assert!(!missed(&trial).iter().any(|it| it.contains("seats")), "nor is it known to be missed");
    // Another assertion notices it all the same.
    let both = format!("{failing}\n  - {{cypher: \"MATCH (t:Trip) RETURN t.seats\", expected: 2}}");
    let trial = tried(USER, &both, booked()).await;
    assert_eq!((trial.not_measured, trial.mutants), (None, 12));
}

#[tokio::test]
async fn an_assertion_on_changes_sees_mutants_too() {
    let changes = "  - {changes: {created: [{node: Trip, count: 1}]}}";
    let trial = tried(USER, changes, booked()).await;
    let missed = missed(&trial);
    assert!(
        !missed.iter().any(|it| it == "removed ")
            || trial
                .missed
                .iter()
                .all(|it| !it.change.starts_with("created (:Trip") || it.kind == MutationKind::Altered),
        "{missed:?}"
    );
}

#[tokio::test]
async fn what_was_deleted_and_changed_is_undone() {
    let setup = "{cypher: \"CREATE (:User {id: $user, city: 'Oslo'})-[:OWNS]->(:Car {name: 'Beetle'})\"}";
    let (old, new) = (
        node("1", "User", &[("id", "u".into()), ("city", "Oslo".into())]),
        node("1", "User", &[("id", "u".into()), ("city", "Rome".into())]),
    );
    let car = node("2", "Car", &[("name", "Beetle".into())]);
    let relationship = Relationship {
        id: "3".into(),
        kind: "OWNS".into(),
        start: "1".into(),
        end: "2".into(),
        properties: Default::default(),
    };
    let changes = vec![
        Change::Deleted {
            when: WHEN,
            entity: Entity::Relationship { relationship, from: old.clone(), to: car.clone() },
        },
        Change::Deleted { when: WHEN, entity: Entity::Node(car) },
        Change::Changed { when: WHEN, before: Box::new(Entity::Node(old)), after: Box::new(Entity::Node(new)) },
    ];
    let strict = "  - {cypher: \"MATCH (u:User) RETURN u.city\", expected: Rome}\n  - {cypher: \"MATCH (c:Car) RETURN count(c)\", expected: 0}";
    let trial = tried(setup, strict, changes.clone()).await;
    assert_eq!(trial.not_mutated, None);
    assert_eq!((trial.mutants, missed(&trial)), (4, Vec::new()), "two deleted, one changed and its city");
    let lax = "  - {cypher: \"MATCH (u:User) RETURN u.city <> 'Oslo'\", expected: true}";
    let trial = tried(setup, lax, changes).await;
    assert_eq!(missed(&trial), ["removed ", "removed ", "altered city: 'Rome' → 'altered'"]);
}

#[tokio::test]
async fn an_id_that_is_given_again_is_another_entity() {
    let (first, second) = (ChangeTime { turn: 1, late: false }, ChangeTime { turn: 2, late: false });
    let old = node("4:x:8", "Trip", &[("to", "Lisbon".into())]);
    let new = node("4:x:8", "Trip", &[("to", "Bergen".into())]);
    let relationship = Relationship {
        id: "5:x:1".to_owned(),
        kind: "TAKES".to_owned(),
        start: user().id,
        end: new.id.clone(),
        properties: Default::default(),
    };
    let changes = vec![
        Change::Deleted { when: first, entity: Entity::Node(old.clone()) },
        Change::Created { when: second, entity: Entity::Node(new.clone()) },
        Change::Created { when: second, entity: Entity::Relationship { relationship, from: user(), to: new } },
    ];
    let history = History::new(GraphModel::default(), &changes);
    assert!(history.before.nodes.values().any(|node| node.properties == old.properties));
    assert_eq!(history.changes().len(), 3, "the new trip is no old one that was changed: {:?}", history.changes());
    let setup = "{cypher: \"CREATE (:User {id: $user}), (:Trip {to: 'Lisbon'})\"}";
    let strict = "  - {cypher: \"MATCH (t:Trip) OPTIONAL MATCH (u:User)-[r:TAKES]->(t) RETURN t.to, count(r)\", expected: [[Bergen, 1]]}";
    let trial = tried(setup, strict, changes).await;
    assert_eq!(trial.not_mutated, None);
    // The old trip: not deleted; the new one: removed, doubled, its label and its town; the relationship: removed, doubled, its type.
    assert_eq!((trial.mutants, missed(&trial)), (8, Vec::new()));
}

#[tokio::test]
async fn what_can_not_be_made_again_is_not_mutated() {
    let any = "  - {cypher: \"MATCH (t:Trip) RETURN count(t)\", expected: 1}";
    let trial = tried(USER, any, Vec::new()).await;
    assert_eq!(trial.not_mutated, Some(NotMutated::Nothing("it changed nothing in the graph".to_owned())));
    let fails = "  - {cypher: \"MATCH (t:Trip) RETURN count(t)\", expected: 9}";
    let trial = tried(USER, fails, booked()).await;
    assert_eq!(trial.not_mutated, Some(NotMutated::Nothing("no assertion on the graph holds".to_owned())));
    let trial = tried("{cypher: \"CALL apoc.help('x') YIELD name RETURN name\"}", any, booked()).await;
    let Some(NotMutated::Unknown(why)) = trial.not_mutated else { panic!("{trial:?}") };
    assert!(why.starts_with("setup 1: "), "{why}");
}

#[tokio::test]
async fn of_many_mutants_some_are_taken() {
    let notes = (0..30).map(|it| Change::Created {
        when: WHEN,
        entity: Entity::Node(node(&it.to_string(), "Note", &[("n", i64::from(it).into())])),
    });
    let all = "  - {cypher: \"MATCH (n:Note) RETURN count(n) >= 1\", expected: true}";
    let trial = tried("", all, notes.collect()).await;
    assert_eq!((trial.mutants, trial.cut_from), (MOST, Some(120)));
}

#[test]
fn a_mutant_is_another_graph() {
    let history = History::new(GraphModel::default(), &booked());
    for mutant in mutants(&history) {
        assert_ne!(mutant.applied(&history).after, history.after, "{mutant:?}");
    }
}
