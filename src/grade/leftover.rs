//! Whether an assertion fails only for what other conversations left behind.

use super::since::{SubjectChange, is_same, since};
use super::{GradeInput, evaluate_briefly};
use crate::assertion::{AssertionCheck, cypher};
use crate::evidence::{Evidence, ObjectContext, Observed, ObservedState, Resource, Value};
use crate::job::Assertion;
use crate::score::{Component, Score};

/// The component of a failed assertion where nothing keeps conversations apart and it would hold, or may hold, without
/// what was there before the conversation: the failure may not be the agent's fault. `None` where the failure stands.
pub(super) fn excused(
    assertion: &Assertion,
    trial: GradeInput<'_>,
    before: &ObservedState,
    after: &Component,
) -> Option<Component> {
    let (check, id, evidence) = (&assertion.check, &assertion.id, trial.evidence);
    if !before.may_be_left_over || evidence.agent_ended_it() {
        return None;
    }
    let holds_without = match check {
        // Nothing was left there.
        AssertionCheck::Cypher(_) if before.graph_is_empty => return None,
        AssertionCheck::Cypher(check) => {
            let exact = cypher::sides(&check.cypher)
                .zip(before.sides(id).zip(evidence.sides(id)))
                .and_then(|(sides, (before, after))| cypher::holds_of_added_sides(check, &sides, before, after));
            let holds = match exact {
                Some(holds) => holds,
                None => {
                    let (old, new) = (before.table(id)?, evidence.table(id)?);
                    cypher::holds_of_what_was_added(check, old, new)
                        || is_same(old, new) && holds_of_nothing(assertion, trial)
                }
            };
            if !holds && mixes_old_and_new(assertion, trial, before) {
                return Some(Component::missing(format!(
                    "{}; but the query read what was there before the first word, and that can't be kept apart from what \
                     this conversation did: say isolation: user, or add a setup that clears it away",
                    after.why()
                )));
            }
            holds
        }
        AssertionCheck::Expression(_) if check.needs_object_context() => {
            let (Some(Observed::Seen(old)), Some(Observed::Seen(all))) =
                (&before.object_context, &evidence.object_context)
            else {
                return None;
            };
            let object_context = Some(Observed::Seen(added(old, all)));
            let evidence = Evidence { object_context, ..evidence.clone() };
            evaluate_briefly(assertion, trial.with(&evidence)).score() == Some(Score::ONE)
        }
        AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => false,
    };
    holds_without.then(|| {
        Component::missing(format!(
            "{}; but without what was there before the first word it would hold, and nothing keeps that apart: say \
             isolation: user, or add a setup that clears it away",
            after.why()
        ))
    })
}

/// Whether an assertion holds where nothing is there: if its query returns after the conversation what it returned before, it
/// fails for what was there.
fn holds_of_nothing(assertion: &Assertion, trial: GradeInput<'_>) -> bool {
    let queries = trial.evidence.empty.as_ref().map(|empty| empty.queries.clone());
    queries.is_some_and(|queries| {
        let evidence = Evidence { queries, ..trial.evidence.clone() };
        evaluate_briefly(assertion, trial.with(&evidence)).score() == Some(Score::ONE)
    })
}

/// Whether a query read data that was there before the conversation, and returns it together with what is new. Where
/// nothing that it looks at has changed, there is nothing new.
fn mixes_old_and_new(assertion: &Assertion, trial: GradeInput<'_>, before: &ObservedState) -> bool {
    let (AssertionCheck::Cypher(check), id, evidence) = (&assertion.check, &assertion.id, trial.evidence) else {
        return false;
    };
    let (Some(old), Some(new), Some(empty)) = (before.table(id), evidence.table(id), evidence.empty.as_ref()) else {
        return false;
    };
    // A mean of nothing is an error.
    let finds_nothing = empty.table(id).is_some_and(|empty| is_same(old, empty));
    // With two trains there as with none, `CASE WHEN count(t) = 1` says the same.
    let has_counted = cypher::counts(&check.cypher)
        .zip(before.sides(id))
        .is_some_and(|(_, counts)| counts.rows.iter().flatten().any(|count| !count.is_same(&Value::Int(0))));
    if finds_nothing && !has_counted || since(&assertion.check, trial, before) == SubjectChange::Unchanged {
        return false;
    }
    match cypher::sides(&check.cypher).zip(before.sides(id).zip(evidence.sides(id))) {
        Some((sides, (old, new))) => !cypher::can_be_kept_apart(&sides.cypher, old, new),
        None => !cypher::can_be_kept_apart(&check.cypher, old, new),
    }
}

/// The context with only those resources that were not there before, or not like this.
fn added(old: &ObjectContext, all: &ObjectContext) -> ObjectContext {
    let mut left: Vec<&Resource> = old.resources.iter().collect();
    let mut resources = Vec::new();
    for resource in &all.resources {
        match left.iter().position(|old| *old == resource) {
            Some(place) => {
                left.swap_remove(place);
            }
            None => resources.push(resource.clone()),
        }
    }
    ObjectContext { resources, ..all.clone() }
}
