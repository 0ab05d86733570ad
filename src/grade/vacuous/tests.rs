mod leftovers;

use std::sync::Arc;

use super::*;
use crate::assertion::cypher::CypherCheck;
use crate::assertion::expression::ExpressionCheck;
use crate::clock::Clock;
use crate::evidence::{
    AssertionId, Change, ChangeTime, Ending, Entity, Node, QueryObservation, Resource, Table, Transcript, Turn, Value,
};
use crate::job::{Job, PromptRole, TemplateCheck, TemplateProblem, load};
use crate::score::Weight;

pub(in crate::grade) struct AnyTemplate;

impl TemplateCheck for AnyTemplate {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

fn job() -> Job {
    let text = "target: {user: u, chatbot: c}\ntasks: [{task: t, acceptanceCriteria: a}]\nfacts: []\nassertions: []\n";
    load("job.yml", text, &AnyTemplate).unwrap()
}

fn assertion(check: AssertionCheck) -> Assertion {
    let id = AssertionId::new("0");
    Assertion { id, name: None, weight: Weight::ONE, when: None, holds_before: false, check }
}

fn input<'a>(job: &'a Job, evidence: &'a Evidence) -> GradeInput<'a> {
    GradeInput { job, case: &job.cases[0], evidence, clock: Clock::system() }
}

fn weigh(assertion: &Assertion, trial: GradeInput<'_>, after: Component) -> (Component, Option<Vacuity>) {
    super::adjusted_component(assertion, &EmptyTrial::new(trial), after)
}

fn cypher() -> Assertion {
    let check = CypherCheck { cypher: "MATCH (x) RETURN x.n".to_owned(), expected: 1.into() };
    assertion(AssertionCheck::Cypher(check))
}

fn expression(script: &str) -> Assertion {
    assertion(AssertionCheck::Expression(ExpressionCheck::new(script)))
}

/// A state in which the query returned this.
fn state(result: Result<i64, &str>) -> ObservedState {
    let table = |value| Table { columns: vec!["x".to_owned()], rows: vec![vec![Value::Int(value)]] };
    let result = result.map(table).map_or_else(|error| Observed::Failed(error.to_owned()), Observed::Seen);
    ObservedState {
        queries: vec![QueryObservation { assertion: AssertionId::new("0"), result, sides: None }],
        ..ObservedState::default()
    }
}

fn holds() -> Component {
    Component::scored(Score::ONE, "holds")
}

/// Something that has changed in the graph.
fn changes(labels: &[&str]) -> Option<Observed<Vec<Change>>> {
    let node = |label: &&str| Node { id: "1".into(), labels: vec![(*label).into()], properties: Default::default() };
    let created =
        |label| Change::Created { when: ChangeTime { turn: 1, late: false }, entity: Entity::Node(node(label)) };
    Some(Observed::Seen(labels.iter().map(created).collect()))
}

fn vacuity(assertion: &Assertion, before: Option<ObservedState>, empty: Option<ObservedState>) -> Option<Vacuity> {
    let evidence = Evidence { before, empty, changes: changes(&["A"]), ..Evidence::sample() };
    let (component, vacuity) = weigh(assertion, input(&job(), &evidence), holds());
    assert_eq!(component.score(), Some(Score::ONE), "something has changed");
    vacuity
}

fn not_checked(vacuity: Option<Vacuity>) -> String {
    match vacuity {
        Some(Vacuity::NotChecked { why }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_holds_before_is_flagged_and_what_holds_everywhere_is_vacuous() {
    assert_eq!(vacuity(&cypher(), Some(state(Ok(1))), Some(state(Ok(1)))), Some(Vacuity::Vacuous));
    assert_eq!(vacuity(&cypher(), Some(state(Ok(2))), Some(state(Ok(1)))), None);
    assert_eq!(vacuity(&cypher(), Some(state(Ok(1))), Some(state(Ok(2)))), Some(Vacuity::HeldBefore));
    let refused = || Some(state(Err("not in the embedded graph")));
    assert_eq!(vacuity(&cypher(), Some(state(Ok(1))), refused()), Some(Vacuity::HeldBefore));
    assert_eq!(
        vacuity(&expression("evaluation.done"), Some(ObservedState::default()), Some(ObservedState::default())),
        None
    );
}

/// The component, in short, of an assertion that holds in the end, and its vacuity.
fn worth(assertion: &Assertion, evidence: &Evidence) -> (String, Option<Vacuity>) {
    let (component, vacuity) = weigh(assertion, input(&job(), evidence), holds());
    let score = match &component {
        Component::Scored { score, .. } => format!("{}", score.get()),
        other => format!("missing: {}", other.why()),
    };
    (score, vacuity)
}

const UNSHOWN: &str = "missing: held before the first word and nothing that it looks at has changed since: this conversation didn't show it";

#[test]
fn what_held_before_and_is_as_it_was_is_missing() {
    let held = Evidence {
        before: Some(state(Ok(1))),
        empty: Some(state(Ok(0))),
        changes: changes(&[]),
        queries: state(Ok(1)).queries,
        ..Evidence::sample()
    };
    assert_eq!(worth(&cypher(), &held), (UNSHOWN.to_owned(), Some(Vacuity::HeldBefore)));
    let vacuous = Evidence { empty: Some(state(Ok(1))), ..held.clone() };
    assert_eq!(worth(&cypher(), &vacuous), (UNSHOWN.to_owned(), Some(Vacuity::Vacuous)));
    let intended = Assertion { holds_before: true, ..cypher() };
    assert_eq!(worth(&intended, &held), ("1".to_owned(), None));
    let changed = Evidence { changes: changes(&["A"]), ..held.clone() };
    assert_eq!(worth(&cypher(), &changed), ("1".to_owned(), Some(Vacuity::HeldBefore)));
    // An agent that failed is neither praised for it nor excused.
    let failed = Evidence { ending: Ending::AgentFailed { error: "500".to_owned() }, ..held.clone() };
    assert_eq!(worth(&cypher(), &failed), ("0".to_owned(), Some(Vacuity::HeldBefore)));
    // What could not be seen before, and has not changed since, was so before.
    let unseen = Evidence { before: Some(state(Err("down"))), ..held };
    assert_eq!(worth(&cypher(), &unseen), (UNSHOWN.to_owned(), Some(Vacuity::HeldBefore)));
}

#[test]
fn where_the_graph_is_not_watched_the_queries_tell() {
    let unwatched = Some(Observed::Failed("it is too large".to_owned()));
    let evidence = |other: i64| {
        let with = |own: i64, other: i64| {
            let mut state = state(Ok(own));
            let mut second = self::state(Ok(other)).queries;
            second[0].assertion = AssertionId::new("1");
            state.queries.extend(second);
            state
        };
        let (before, after) = (with(1, 0), with(1, other));
        Evidence {
            before: Some(before),
            empty: Some(state(Ok(0))),
            queries: after.queries,
            changes: unwatched.clone(),
            ..Evidence::sample()
        }
    };
    let mut job = job();
    let second = Assertion { id: AssertionId::new("1"), ..cypher() };
    Arc::make_mut(&mut job.cases[0]).assertions = vec![cypher(), second];
    let weigh = |evidence: &Evidence| weigh(&cypher(), input(&job, evidence), holds());
    let (unknown, vacuity) = weigh(&evidence(0));
    assert!(unknown.is_missing() && unknown.why().contains("isn't known") && unknown.why().contains("too large"));
    assert_eq!(vacuity, Some(Vacuity::HeldBefore));
    assert_eq!(weigh(&evidence(1)), (holds(), Some(Vacuity::HeldBefore)));
    // A part is watched, and something outside of it has changed.
    job.graph.watch.labels = vec!["Kept".to_owned()];
    let partly = Evidence { changes: changes(&[]), ..evidence(1) };
    let weigh = |evidence: &Evidence| self::weigh(&cypher(), input(&job, evidence), holds());
    assert_eq!(weigh(&partly), (holds(), Some(Vacuity::HeldBefore)));
    assert!(weigh(&Evidence { changes: changes(&[]), ..evidence(0) }).0.is_missing());
}

#[test]
fn an_expression_looks_at_what_it_names() {
    let context = |text: &str| Some(Observed::Seen(ObjectContext { context: text.into(), ..Default::default() }));
    let evidence = |before: &str, after: &str| Evidence {
        before: Some(ObservedState { object_context: context(before), ..ObservedState::default() }),
        empty: Some(ObservedState::default()),
        object_context: context(after),
        transcript: Transcript { turns: vec![Turn::answered(1, "Hi", "OK")] },
        changes: changes(&["A"]),
        ..Evidence::sample()
    };
    let shows = expression(r#"["x", "y"].contains(objectContext.context)"#);
    assert_eq!(worth(&shows, &evidence("x", "x")).0, UNSHOWN, "the graph is not what it looks at");
    assert_eq!(worth(&shows, &evidence("x", "y")), ("1".to_owned(), Some(Vacuity::HeldBefore)));
    assert_eq!(worth(&shows, &evidence("", "y")), ("1".to_owned(), None));
    let both = expression(r#"objectContext.context == "x" && evaluation.functionCalls.size == 0"#);
    assert_eq!(worth(&both, &evidence("x", "x")).0, UNSHOWN, "a conversation always says something");
    // The conversation itself is new by nature.
    let of_messages = expression("evaluation.failureCount == 0");
    assert_eq!(worth(&of_messages, &evidence("x", "x")), ("1".to_owned(), Some(Vacuity::Vacuous)));
    assert_eq!(worth(&expression("true"), &evidence("x", "x")).0, UNSHOWN);
    let untouched = expression("changes.deleted.size == 0");
    assert_eq!(worth(&untouched, &evidence("x", "x")), ("1".to_owned(), Some(Vacuity::Vacuous)));
    let nothing = Evidence { changes: changes(&[]), ..evidence("x", "x") };
    assert_eq!(worth(&untouched, &nothing).0, UNSHOWN);
}

#[test]
fn what_reads_no_graph_is_never_shown_by_a_change_of_it() {
    let evidence = Evidence {
        before: Some(state(Ok(1))),
        empty: Some(state(Ok(1))),
        changes: changes(&["A"]),
        queries: state(Ok(1)).queries,
        ..Evidence::sample()
    };
    let check = CypherCheck { cypher: "RETURN 1".to_owned(), expected: 1.into() };
    let one = assertion(AssertionCheck::Cypher(check));
    assert_eq!(worth(&one, &evidence), (UNSHOWN.to_owned(), Some(Vacuity::Vacuous)));
}

#[test]
fn true_and_false_differ_by_the_comparison() {
    let query = "MATCH (b:Booking) RETURN count(b) = 1";
    let check = CypherCheck { cypher: query.to_owned(), expected: true.into() };
    let booked = assertion(AssertionCheck::Cypher(check));
    let seen = |count: i64| {
        let table = |rows| Observed::Seen(Table { columns: vec!["x".to_owned()], rows });
        let Observed::Seen(sides) = table(vec![vec![Value::Int(count), Value::Int(1)]]) else { return Vec::new() };
        let result = table(vec![vec![Value::Bool(count == 1)]]);
        vec![QueryObservation { assertion: AssertionId::new("0"), result, sides: Some(sides) }]
    };
    let is_excused = |before: i64, after: i64| {
        let evidence = Evidence {
            before: Some(ObservedState { may_be_left_over: true, queries: seen(before), ..ObservedState::default() }),
            queries: seen(after),
            changes: changes(&["Booking"]),
            ..Evidence::sample()
        };
        let fails = Component::scored(Score::ZERO, "expected true");
        weigh(&booked, input(&job(), &evidence), fails).0.is_missing()
    };
    assert!(is_excused(1, 2) && is_excused(2, 3) && is_excused(7, 8), "each did it once");
    assert!(!is_excused(0, 2) && !is_excused(1, 3) && !is_excused(2, 4), "it was done twice");
    assert!(!is_excused(2, 2) && !is_excused(0, 0), "it was not done");
}

#[test]
fn an_honest_one_and_one_that_fails_are_never_flagged() {
    let honest = Assertion { holds_before: true, ..cypher() };
    assert_eq!(vacuity(&honest, Some(state(Ok(1))), Some(state(Ok(1)))), None);
    let evidence = Evidence { before: Some(state(Ok(1))), empty: Some(state(Ok(1))), ..Evidence::sample() };
    for component in [Component::scored(Score::ZERO, "fails"), Component::missing("down")] {
        assert_eq!(weigh(&cypher(), input(&job(), &evidence), component.clone()), (component, None));
    }
}

#[test]
fn what_could_not_be_seen_is_not_checked_unless_the_empty_state_settles_it() {
    let why = not_checked(vacuity(&cypher(), Some(state(Err("down"))), Some(state(Ok(1)))));
    assert!(why.starts_with("before the conversation: "), "{why}");
    assert_eq!(vacuity(&cypher(), Some(state(Err("down"))), Some(state(Ok(0)))), None);
}

#[test]
fn changes_that_only_forbid_hold_before_and_are_vacuous_only_where_they_allow_everything() {
    let of_changes = |text: &str| {
        let config = serde_json::from_str(text).unwrap();
        assertion(AssertionCheck::Changes(config))
    };
    let found = |text: &str| vacuity(&of_changes(text), Some(ObservedState::default()), Some(ObservedState::default()));
    assert_eq!(found(r#"{"created": "any", "deleted": "any", "changed": "any"}"#), Some(Vacuity::Vacuous));
    for forbids in [
        r#"{"created": "any", "deleted": "any", "changed": "any", "turn": 1}"#,
        r#"{"created": "none"}"#,
        r#"{"created": "any", "deleted": "none"}"#,
        r#"{"created": [{"node": "A", "count": {"max": 1}}]}"#,
    ] {
        assert_eq!(found(forbids), Some(Vacuity::HeldBefore), "{forbids}");
        let nothing = Evidence { before: Some(ObservedState::default()), changes: changes(&[]), ..Evidence::sample() };
        assert_eq!(worth(&of_changes(forbids), &nothing), (UNSHOWN.to_owned(), Some(Vacuity::HeldBefore)));
        let intended = Assertion { holds_before: true, ..of_changes(forbids) };
        assert_eq!(worth(&intended, &nothing), ("1".to_owned(), None));
    }
    assert_eq!(found(r#"{"created": [{"node": "A", "count": 1}]}"#), None, "something is required");
}

#[test]
fn a_record_of_an_earlier_version_flags_nothing() {
    assert_eq!(vacuity(&cypher(), None, None), None);
}
