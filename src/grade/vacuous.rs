//! Whether an assertion that holds could have failed at all.

use crate::assertion::AssertionCheck;
use crate::clock::Clock;
use crate::evidence::{Condition, Evidence, ObjectContext, Observed, State, TrialId};
use crate::job::{Assertion, Job};
use crate::score::{Component, Score, Vacuity};

/// The evidence as it would be had nobody said a word and had this been all that there was to see.
fn silent(evidence: &Evidence, state: &State) -> Evidence {
    let trial = TrialId { number: 0, model: evidence.model.clone(), condition: evidence.condition, repeat: 1 };
    Evidence {
        object_context: state.object_context.clone(),
        queries: state.queries.clone(),
        changes: Some(Observed::Seen(Vec::new())),
        ..Evidence::of_session(evidence.session_id.clone(), evidence.user.clone(), &trial)
    }
}

/// Whether an assertion would be worth looking at before the conversation: whoever says that it holds before is believed.
pub fn is_in_doubt(assertion: &Assertion, condition: Condition) -> bool {
    assertion.applies_in(condition) && !assertion.holds_before
}

/// What an assertion comes to in a state in which nobody has said a word.
fn in_silence(
    check: &AssertionCheck,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    state: &State,
) -> Component {
    check.evaluate(index, &job.name, &silent(evidence, state), clock)
}

/// What an assertion comes to on an empty graph and an empty object context.
pub fn on_nothing(
    check: &AssertionCheck,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    empty: &State,
) -> Component {
    let object_context = Some(Observed::Seen(ObjectContext::default()));
    in_silence(check, index, job, (evidence, clock), &State { object_context, queries: empty.queries.clone() })
}

/// What is known before any conversation about whether an assertion could fail; `None` where it could.
pub fn doubt(job: &Job, index: usize, evidence: &Evidence, clock: Clock) -> Option<Vacuity> {
    vacuity(
        job.assertions.get(index)?,
        index,
        job,
        (evidence, clock),
        &Component::scored(Score::ONE, "assumed to hold"),
    )
}

/// What is known about whether an assertion that came to `after` could have failed; `None` where it could, or where it
/// was never looked at.
pub(super) fn vacuity(
    assertion: &Assertion,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    after: &Component,
) -> Option<Vacuity> {
    let (before, empty) = (evidence.before.as_ref()?, evidence.empty.as_ref()?);
    if after.score() != Some(Score::ONE) || !is_in_doubt(assertion, evidence.condition) {
        return None;
    }
    if let AssertionCheck::Changes(check) = &assertion.check {
        // Nothing can have changed before the conversation: what it allows for tells whether it can fail.
        return check.allows_everything().then_some(Vacuity::Vacuous);
    }
    let empty = on_nothing(&assertion.check, index, job, (evidence, clock), empty);
    if empty.score().is_some_and(|score| score < Score::ONE) {
        return None;
    }
    let before = in_silence(&assertion.check, index, job, (evidence, clock), before);
    if before.score().is_some_and(|score| score < Score::ONE) {
        return None;
    }
    Some(
        match [("on an empty graph", empty), ("before the conversation", before)].iter().find(|(_, c)| c.is_missing()) {
            Some((state, component)) => Vacuity::NotChecked { why: format!("{state}: {}", component.why()) },
            None => Vacuity::Vacuous,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::cypher::CypherCheck;
    use crate::assertion::expression::ExpressionCheck;
    use crate::evidence::{QueryObservation, Table, Value};
    use crate::job::{TemplateCheck, TemplateKind, load};
    use crate::score::Weight;

    struct AnyTemplate;

    impl TemplateCheck for AnyTemplate {
        fn problem(&self, _: &str, _: TemplateKind) -> Option<String> {
            None
        }
    }

    fn job() -> Job {
        let text =
            "target: {user: u, chatbot: c}\ntasks: [{task: t, acceptanceCriteria: a}]\nfacts: []\nassertions: []\n";
        load("job.yml", text, &AnyTemplate).unwrap()
    }

    fn assertion(check: AssertionCheck) -> Assertion {
        Assertion { name: None, weight: Weight::ONE, when: None, holds_before: false, check }
    }

    fn cypher() -> Assertion {
        let check = CypherCheck { cypher: "RETURN $x".to_owned(), expected: 1.into() };
        assertion(AssertionCheck::Cypher(check))
    }

    fn expression(script: &str) -> Assertion {
        assertion(AssertionCheck::Expression(ExpressionCheck { expression: script.to_owned() }))
    }

    /// A state in which the query returned this.
    fn state(result: Result<i64, &str>) -> State {
        let table = |value| Table { columns: vec!["x".to_owned()], rows: vec![vec![Value::Int(value)]] };
        let result = result.map(table).map_or_else(|error| Observed::Failed(error.to_owned()), Observed::Seen);
        State { object_context: None, queries: vec![QueryObservation { assertion: 0, result }] }
    }

    fn of(assertion: &Assertion, before: Option<State>, empty: Option<State>) -> Option<Vacuity> {
        let evidence = Evidence { before, empty, ..Evidence::sample() };
        vacuity(assertion, 0, &job(), (&evidence, Clock::system()), &Component::scored(Score::ONE, "holds"))
    }

    fn not_checked(vacuity: Option<Vacuity>) -> String {
        match vacuity {
            Some(Vacuity::NotChecked { why }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_what_holds_everywhere_is_vacuous() {
        assert_eq!(of(&cypher(), Some(state(Ok(1))), Some(state(Ok(1)))), Some(Vacuity::Vacuous));
        assert_eq!(of(&cypher(), Some(state(Ok(2))), Some(state(Ok(1)))), None);
        assert_eq!(of(&cypher(), Some(state(Ok(1))), Some(state(Ok(2)))), None);
        let always = expression("objectContext.resources.size >= 0");
        let seen = State { object_context: Some(Observed::Seen(ObjectContext::default())), ..State::default() };
        assert_eq!(of(&always, Some(seen), Some(State::default())), Some(Vacuity::Vacuous));
        assert_eq!(of(&expression("evaluation.done"), Some(State::default()), Some(State::default())), None);
    }

    #[test]
    fn an_honest_one_and_one_that_fails_are_never_flagged() {
        let honest = Assertion { holds_before: true, ..cypher() };
        assert_eq!(of(&honest, Some(state(Ok(1))), Some(state(Ok(1)))), None);
        let evidence = Evidence { before: Some(state(Ok(1))), empty: Some(state(Ok(1))), ..Evidence::sample() };
        let evidence = (&evidence, Clock::system());
        assert_eq!(vacuity(&cypher(), 0, &job(), evidence, &Component::scored(Score::ZERO, "fails")), None);
        assert_eq!(vacuity(&cypher(), 0, &job(), evidence, &Component::missing("down")), None);
    }

    #[test]
    fn what_could_not_be_seen_is_not_checked_unless_the_other_state_settles_it() {
        let refused = || Some(state(Err("not in the embedded graph")));
        let why = not_checked(of(&cypher(), Some(state(Ok(1))), refused()));
        assert_eq!(why, "on an empty graph: the query could not be run: not in the embedded graph");
        assert_eq!(of(&cypher(), Some(state(Ok(0))), refused()), None);
        let why = not_checked(of(&cypher(), Some(state(Err("down"))), Some(state(Ok(1)))));
        assert!(why.starts_with("before the conversation: "), "{why}");
        assert_eq!(of(&cypher(), Some(state(Err("down"))), Some(state(Ok(0)))), None);
    }

    #[test]
    fn changes_are_vacuous_only_where_they_allow_everything() {
        let changes = |text: &str| {
            let config = serde_json::from_str(text).unwrap();
            assertion(AssertionCheck::Changes(crate::assertion::changes::ChangesCheck::of(config).unwrap()))
        };
        let of = |text: &str| of(&changes(text), Some(State::default()), Some(State::default()));
        assert_eq!(of(r#"{"created": "any", "deleted": "any", "changed": "any"}"#), Some(Vacuity::Vacuous));
        assert_eq!(of(r#"{"created": "any", "deleted": "any", "changed": "any", "turn": 1}"#), None);
        assert_eq!(of(r#"{"created": "none"}"#), None);
    }

    #[test]
    fn a_record_of_an_earlier_version_flags_nothing() {
        assert_eq!(of(&cypher(), None, None), None);
    }
}
