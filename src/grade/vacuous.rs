//! Whether an assertion that holds says anything of the conversation: whether it could have failed at all, and whether
//! it held before the first message. And whether one that fails does so for what others left behind.

use super::since::{Since, since};
use super::{GradeInput, evaluate, leftover};
use crate::assertion::AssertionCheck;
use crate::evidence::{Condition, Ending, Evidence, ObjectContext, Observed, ObservedState, Transcript};
use crate::job::Assertion;
use crate::score::{Component, Score, Vacuity};

/// The evidence of a conversation without messages in which only this state was observed.
pub(super) fn silent(evidence: &Evidence, state: &ObservedState) -> Evidence {
    Evidence {
        transcript: Transcript::default(),
        ending: Ending::CutOff,
        object_context: state.object_context.clone(),
        queries: state.queries.clone(),
        changes: Some(Observed::Seen(Vec::new())),
        before: None,
        empty: None,
        ..evidence.clone()
    }
}

/// Whether an assertion is worth looking at before the conversation: whoever says that it holds before is believed.
pub fn is_in_doubt(assertion: &Assertion, condition: Condition) -> bool {
    assertion.applies_in(condition) && !assertion.holds_before
}

/// Evaluates an assertion on a state, as if no message had been sent.
pub fn in_silence(assertion: &Assertion, trial: GradeInput<'_>, state: &ObservedState) -> Component {
    evaluate(assertion, trial.with(&silent(trial.evidence, state)))
}

/// Evaluates an assertion on an empty graph and an empty object context.
fn on_nothing(assertion: &Assertion, trial: GradeInput<'_>) -> Component {
    let evidence = trial.evidence;
    let queries = evidence.empty.as_ref().map(|empty| empty.queries.clone()).unwrap_or_default();
    let object_context = Some(Observed::Seen(ObjectContext::default()));
    in_silence(assertion, trial, &ObservedState { object_context, queries, ..ObservedState::default() })
}

/// Why an assertion that holds afterwards may say nothing, as far as that is known before the conversation; `None`
/// where it does not hold yet, or was not evaluated.
pub fn doubt(assertion: &Assertion, trial: GradeInput<'_>) -> Option<Vacuity> {
    let evidence = trial.evidence;
    let before = evidence.before.as_ref().filter(|_| is_in_doubt(assertion, evidence.condition))?;
    if let AssertionCheck::Changes(check) = &assertion.check {
        // Nothing can have changed before the conversation: one that only forbids holds then.
        let holds = || in_silence(assertion, trial, before).score() == Some(Score::ONE);
        return match check.allows_everything() {
            true => Some(Vacuity::Vacuous),
            false => holds().then_some(Vacuity::HeldBefore),
        };
    }
    if !was_looked_at(assertion, before) {
        return None;
    }
    let held = in_silence(assertion, trial, before);
    let on_nothing = on_nothing(assertion, trial);
    match (held, on_nothing.score()) {
        (Component::Scored { score, .. }, _) if score < Score::ONE => None,
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
pub(super) fn weigh(assertion: &Assertion, trial: GradeInput<'_>, after: Component) -> (Component, Option<Vacuity>) {
    let evidence = trial.evidence;
    let Some(before) = evidence.before.as_ref().filter(|_| is_in_doubt(assertion, evidence.condition)) else {
        return (after, None);
    };
    match after.score() {
        Some(Score::ONE) => hold(assertion, trial, (before, after)),
        Some(_) => {
            let excused = leftover::excused(assertion, trial, (before, &after));
            (excused.unwrap_or(after), None)
        }
        None => (after, None),
    }
}

fn hold(
    assertion: &Assertion,
    trial: GradeInput<'_>,
    (before, after): (&ObservedState, Component),
) -> (Component, Option<Vacuity>) {
    let evidence = trial.evidence;
    let check = &assertion.check;
    let held_unseen = || {
        // What is the same as before was so before, whether or not anybody could see it.
        was_looked_at(assertion, before) && in_silence(assertion, trial, before).is_missing()
    };
    let vacuity = match doubt(assertion, trial) {
        Some(vacuity @ (Vacuity::Vacuous | Vacuity::HeldBefore)) => vacuity,
        unknown if !matches!(check, AssertionCheck::Changes(_)) && held_unseen() => {
            if since(check, trial, before) != Since::Unchanged {
                return (after, unknown);
            }
            Vacuity::HeldBefore
        }
        _ if rests_on_leftovers(assertion, trial, before) => Vacuity::HeldBefore,
        _ => return (after, None),
    };
    let unshown = match since(check, trial, before) {
        Since::Changed => return (after, Some(vacuity)),
        Since::Unchanged => "held before the first word and nothing that it looks at has changed since".to_owned(),
        Since::Unknown(why) => {
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
    evaluate(assertion, trial.with(&without)).score() != Some(Score::ONE)
}

#[cfg(test)]
pub(super) mod tests;
