//! Whether an assertion fails only for what other conversations left behind.

use super::{GradeInput, evaluate};
use crate::assertion::{AssertionCheck, cypher};
use crate::evidence::{Evidence, ObjectContext, Observed, Resource, State};
use crate::job::Assertion;
use crate::score::{Component, Score};

/// What an assertion that fails is worth instead, where it would hold without what was there before the first word and
/// nothing keeps conversations apart: nobody can tell, and it is not the agent's fault.
pub(super) fn excused(
    assertion: &Assertion,
    trial: GradeInput<'_>,
    (before, after): (&State, &Component),
) -> Option<Component> {
    let (check, id, evidence) = (&assertion.check, &assertion.id, trial.evidence);
    if !before.may_be_left_over || evidence.agent_ended_it() {
        return None;
    }
    let holds_without = match check {
        AssertionCheck::Cypher(check) => {
            let exact = cypher::sides(&check.cypher)
                .zip(before.sides(id).zip(evidence.sides(id)))
                .and_then(|(sides, (before, after))| cypher::holds_of_added_sides(check, &sides, before, after));
            match exact {
                Some(holds) => holds,
                None => cypher::holds_of_what_was_added(check, before.table(id)?, evidence.table(id)?),
            }
        }
        AssertionCheck::Expression(_) if check.needs_object_context() => {
            let (Some(Observed::Seen(old)), Some(Observed::Seen(all))) =
                (&before.object_context, &evidence.object_context)
            else {
                return None;
            };
            let object_context = Some(Observed::Seen(added(old, all)));
            let evidence = Evidence { object_context, ..evidence.clone() };
            evaluate(assertion, trial.with(&evidence)).score() == Some(Score::ONE)
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
