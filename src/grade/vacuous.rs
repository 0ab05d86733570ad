//! Whether an assertion that holds says anything of the conversation: whether it could have failed at all, and whether it
//! held before the first word already. And whether one that fails does so for what others left behind.

use super::leftover;
use super::since::{Since, since};
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

/// Whether an assertion is worth looking at before the conversation: whoever says that it holds before is believed.
pub fn is_in_doubt(assertion: &Assertion, condition: Condition) -> bool {
    assertion.applies_in(condition) && !assertion.holds_before
}

/// What an assertion comes to in a state in which nobody has said a word.
pub fn in_silence(
    check: &AssertionCheck,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    state: &State,
) -> Component {
    check.evaluate(index, &job.name, &silent(evidence, state), clock)
}

/// What an assertion comes to on an empty graph and an empty object context.
fn on_nothing(check: &AssertionCheck, index: usize, job: &Job, (evidence, clock): (&Evidence, Clock)) -> Component {
    let queries = evidence.empty.as_ref().map(|empty| empty.queries.clone()).unwrap_or_default();
    let object_context = Some(Observed::Seen(ObjectContext::default()));
    in_silence(check, index, job, (evidence, clock), &State { object_context, queries, ..State::default() })
}

/// What is known before any conversation of what it will mean when an assertion holds; `None` where it does not hold
/// yet, or was never looked at.
pub fn doubt(job: &Job, index: usize, evidence: &Evidence, clock: Clock) -> Option<Vacuity> {
    doubt_of(job.assertions.get(index)?, index, job, (evidence, clock))
}

fn doubt_of(assertion: &Assertion, index: usize, job: &Job, (evidence, clock): (&Evidence, Clock)) -> Option<Vacuity> {
    let before = evidence.before.as_ref().filter(|_| is_in_doubt(assertion, evidence.condition))?;
    if let AssertionCheck::Changes(check) = &assertion.check {
        // Nothing can have changed before the conversation: what it allows for tells whether it can fail.
        return check.allows_everything().then_some(Vacuity::Vacuous);
    }
    if !was_looked_at(&assertion.check, index, before) {
        return None;
    }
    let held = in_silence(&assertion.check, index, job, (evidence, clock), before);
    let on_nothing = on_nothing(&assertion.check, index, job, (evidence, clock));
    match (held, on_nothing.score()) {
        (Component::Scored { score, .. }, _) if score < Score::ONE => None,
        (Component::Scored { .. }, Some(Score::ONE)) => Some(Vacuity::Vacuous),
        (Component::Scored { .. }, _) => Some(Vacuity::HeldBefore),
        (_, Some(score)) if score < Score::ONE => None,
        (unknown, _) => Some(Vacuity::NotChecked { why: format!("before the conversation: {}", unknown.why()) }),
    }
}

/// Earlier versions looked only at what holds with nothing there.
fn was_looked_at(check: &AssertionCheck, index: usize, before: &State) -> bool {
    match check {
        AssertionCheck::Cypher(_) => before.queries.iter().any(|query| query.assertion == index),
        AssertionCheck::Expression(_) => !check.needs_object_context() || before.object_context.is_some(),
        AssertionCheck::Changes(_) => true,
    }
}

/// What an assertion that came to `after` is worth in the light of what was there before the first word, and why it may
/// say nothing of the conversation.
pub(super) fn weigh(
    assertion: &Assertion,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    after: Component,
) -> (Component, Option<Vacuity>) {
    let Some(before) = evidence.before.as_ref().filter(|_| is_in_doubt(assertion, evidence.condition)) else {
        return (after, None);
    };
    match after.score() {
        Some(Score::ONE) => hold(assertion, index, job, (evidence, clock), (before, after)),
        Some(_) => {
            let excused = leftover::excused(&assertion.check, index, job, (evidence, clock), (before, &after));
            (excused.unwrap_or(after), None)
        }
        None => (after, None),
    }
}

fn hold(
    assertion: &Assertion,
    index: usize,
    job: &Job,
    (evidence, clock): (&Evidence, Clock),
    (before, after): (&State, Component),
) -> (Component, Option<Vacuity>) {
    let check = &assertion.check;
    let held_unseen = || {
        // What is the same as before was so before, whether or not anybody could see it.
        was_looked_at(check, index, before) && in_silence(check, index, job, (evidence, clock), before).is_missing()
    };
    let vacuity = match doubt_of(assertion, index, job, (evidence, clock)) {
        Some(vacuity @ (Vacuity::Vacuous | Vacuity::HeldBefore)) => vacuity,
        unknown if !matches!(check, AssertionCheck::Changes(_)) && held_unseen() => {
            if since(check, job, evidence, before) != Since::Unchanged {
                return (after, unknown);
            }
            Vacuity::HeldBefore
        }
        _ => return (after, None),
    };
    let unshown = match since(check, job, evidence, before) {
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

#[cfg(test)]
mod tests;
