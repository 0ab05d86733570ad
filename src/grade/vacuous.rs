//! Whether an assertion that holds says anything of the conversation: whether it could have failed at all, and whether
//! it held before the first message. And whether one that fails does so for what others left behind.

use std::cell::OnceCell;

use super::since::{SubjectChange, since};
use super::{GradeInput, evaluate_briefly, leftover};
use crate::assertion::AssertionCheck;
use crate::evidence::{Condition, Ending, Evidence, ObjectContext, Observed, ObservedState, Transcript};
use crate::job::Assertion;
use crate::score::{Component, Score, Vacuity};

/// The evidence of a conversation without messages in which only this state was observed.
pub(super) fn silent(evidence: &Evidence, state: &ObservedState) -> Evidence {
    Evidence {
        session_id: evidence.session_id.clone(),
        user: evidence.user.clone(),
        model: evidence.model.clone(),
        condition: evidence.condition,
        transcript: Transcript::default(),
        reference: None,
        ending: Ending::CutOff,
        object_context: state.object_context.clone(),
        queries: state.queries.clone(),
        changes: Some(Observed::Seen(Vec::new())),
        before: None,
        empty: None,
        persona_usage: evidence.persona_usage,
        persona_notes: Vec::new(),
        persona_faults: Vec::new(),
        user_tool_calls: Vec::new(),
        fact_uses: None,
    }
}

/// A trial without its conversation, made once for all of its assertions.
pub(super) struct EmptyTrial<'a> {
    trial: GradeInput<'a>,
    as_before: OnceCell<Evidence>,
    on_nothing: OnceCell<Evidence>,
}

impl<'a> EmptyTrial<'a> {
    pub(super) fn new(trial: GradeInput<'a>) -> EmptyTrial<'a> {
        EmptyTrial { trial, as_before: OnceCell::new(), on_nothing: OnceCell::new() }
    }

    /// The state just before the first message, where an assertion is worth looking at in it.
    fn before(&self, assertion: &Assertion) -> Option<&'a ObservedState> {
        let evidence = self.trial.evidence;
        evidence.before.as_ref().filter(|_| is_in_doubt(assertion, evidence.condition))
    }

    /// Evaluates an assertion on the state just before the first message.
    fn evaluate_before(&self, assertion: &Assertion, before: &ObservedState) -> Component {
        let evidence = self.as_before.get_or_init(|| silent(self.trial.evidence, before));
        evaluate_briefly(assertion, self.trial.with(evidence))
    }

    /// Evaluates an assertion on an empty graph and an empty object context.
    fn evaluate_on_nothing(&self, assertion: &Assertion) -> Component {
        let evidence = self.on_nothing.get_or_init(|| {
            let empty = self.trial.evidence.empty.as_ref();
            let queries = empty.map(|empty| empty.queries.clone()).unwrap_or_default();
            let object_context = Some(Observed::Seen(ObjectContext::default()));
            silent(self.trial.evidence, &ObservedState { object_context, queries, ..ObservedState::default() })
        });
        evaluate_briefly(assertion, self.trial.with(evidence))
    }
}

/// Whether to check an assertion before the conversation: one with `holdsBefore` is not checked.
pub fn is_in_doubt(assertion: &Assertion, condition: Condition) -> bool {
    assertion.applies_in(condition) && !assertion.holds_before
}

/// Evaluates an assertion on a state, as if no message had been sent.
pub fn in_silence(assertion: &Assertion, trial: GradeInput<'_>, state: &ObservedState) -> Component {
    evaluate_briefly(assertion, trial.with(&silent(trial.evidence, state)))
}

/// Why an assertion that holds afterwards may say nothing, as far as that is known before the conversation; `None`
/// where it does not hold yet, or was not evaluated.
pub fn doubt(assertion: &Assertion, trial: GradeInput<'_>) -> Option<Vacuity> {
    let silence = EmptyTrial::new(trial);
    let before = silence.before(assertion)?;
    let held = was_looked_at(assertion, before).then(|| silence.evaluate_before(assertion, before))?;
    vacuity_given(assertion, &silence, &held)
}

/// This doubt, given what the assertion came to before the first message.
fn vacuity_given(assertion: &Assertion, silence: &EmptyTrial<'_>, held: &Component) -> Option<Vacuity> {
    if held.score().is_some_and(|score| score < Score::ONE) {
        return None;
    }
    if let AssertionCheck::Changes(check) = &assertion.check {
        // Nothing can have changed before the conversation: one that only forbids holds then.
        return match check.allows_everything() {
            true => Some(Vacuity::Vacuous),
            false => held.score().map(|_| Vacuity::HeldBefore),
        };
    }
    match (held, silence.evaluate_on_nothing(assertion).score()) {
        (Component::Scored { .. }, Some(Score::ONE)) => Some(Vacuity::Vacuous),
        (Component::Scored { .. }, _) => Some(Vacuity::HeldBefore),
        (_, Some(score)) if score < Score::ONE => None,
        (unknown, _) => Some(Vacuity::NotChecked { why: format!("before the conversation: {}", unknown.why()) }),
    }
}

/// Earlier versions looked only at what holds with nothing there.
fn was_looked_at(assertion: &Assertion, before: &ObservedState) -> bool {
    let check = &assertion.check;
    match check {
        AssertionCheck::Cypher(_) => before.queries.iter().any(|query| query.assertion == assertion.id),
        AssertionCheck::Expression(_) => !check.needs_object_context() || before.object_context.is_some(),
        AssertionCheck::Changes(_) => true,
    }
}

/// The component of an assertion that came to `after`, in the light of what held before the conversation, and why it
/// may say nothing of the conversation.
pub(super) fn adjusted_component(
    assertion: &Assertion,
    silence: &EmptyTrial<'_>,
    after: Component,
) -> (Component, Option<Vacuity>) {
    let Some(before) = silence.before(assertion) else { return (after, None) };
    match after.score() {
        Some(Score::ONE) => hold(assertion, silence, before, after),
        Some(_) => {
            let excused = leftover::excused(assertion, silence.trial, before, &after);
            (excused.unwrap_or(after), None)
        }
        None => (after, None),
    }
}

fn hold(
    assertion: &Assertion,
    silence: &EmptyTrial<'_>,
    before: &ObservedState,
    after: Component,
) -> (Component, Option<Vacuity>) {
    let (trial, evidence, check) = (silence.trial, silence.trial.evidence, &assertion.check);
    let held = was_looked_at(assertion, before).then(|| silence.evaluate_before(assertion, before));
    // State that has not changed was the same before, seen or not.
    let held_unseen = held.as_ref().is_some_and(Component::is_missing);
    let vacuity = match held.and_then(|held| vacuity_given(assertion, silence, &held)) {
        Some(vacuity @ (Vacuity::Vacuous | Vacuity::HeldBefore)) => vacuity,
        unknown if !matches!(check, AssertionCheck::Changes(_)) && held_unseen => {
            if since(check, trial, before) != SubjectChange::Unchanged {
                return (after, unknown);
            }
            Vacuity::HeldBefore
        }
        _ if rests_on_leftovers(assertion, trial, before) => Vacuity::HeldBefore,
        _ => return (after, None),
    };
    let unshown = match since(check, trial, before) {
        SubjectChange::Changed => return (after, Some(vacuity)),
        SubjectChange::Unchanged => {
            "held before the first word and nothing that it looks at has changed since".to_owned()
        }
        SubjectChange::Unknown(why) => {
            format!("held before the first word, and whether what it looks at has changed since isn't known ({why})")
        }
    };
    let component = if evidence.agent_ended_it() {
        Component::scored(Score::ZERO, format!("{unshown}: an agent that failed didn't show it"))
    } else {
        Component::missing(format!("{unshown}: this conversation didn't show it"))
    };
    (component, Some(vacuity))
}

/// Whether an assertion holds only with what others may have left in the agent's state, which is as it was before the
/// conversation: what else it looks at is of this conversation, but that isn't.
fn rests_on_leftovers(assertion: &Assertion, trial: GradeInput<'_>, before: &ObservedState) -> bool {
    let check = &assertion.check;
    if !before.may_be_left_over || !check.needs_object_context() || check.shows_the_same(trial.evidence) != Some(true) {
        return false;
    }
    let object_context = Some(Observed::Seen(ObjectContext::default()));
    let without = Evidence { object_context, ..trial.evidence.clone() };
    evaluate_briefly(assertion, trial.with(&without)).score() != Some(Score::ONE)
}

#[cfg(test)]
pub(super) mod tests;
