//! What can't be charged to the agent, nor counted for it, since a message was sent again that it may have had before.

use super::GradeInput;
use crate::assertion::{after_break, unseen_calls};
use crate::evidence::Observed;
use crate::metric::{self, MetricEntry, MetricKind};
use crate::score::{Component, Dimension, Item, Score};

/// A dimension without what nobody can tell, whichever way it came out: what fails may not be the agent's doing, and where only that
/// were left out, what holds by chance would remain. Assertions tell by themselves.
pub(super) fn adjusted(entry: &MetricEntry, trial: GradeInput<'_>, dimension: Dimension) -> Dimension {
    let Some((turn, doubt)) = doubt(entry, trial) else { return dimension };
    let by_itself = trial.evidence.failed_by_itself();
    let unknown = |component: Component| match component {
        // The failed try is charged: left out for it, the conversation would be run again until none fails.
        component if component.score() == Some(Score::ONE) && by_itself => component,
        Component::Scored { .. } => Component::missing(doubt.clone()),
        component => component,
    };
    let is_in_doubt = |item: &Item| item.turn.is_none_or(|it| it == turn);
    let item = |item: Item| match is_in_doubt(&item) {
        true => Item { component: unknown(item.component), ..item },
        false => item,
    };
    let items = dimension.items.into_iter().map(item).collect();
    Dimension { component: unknown(dimension.component), items, beside: None, vacuity: None, ..dimension }
}

/// The turn whose message was sent again, and why what a metric looks at is not known.
fn doubt(entry: &MetricEntry, trial: GradeInput<'_>) -> Option<(u32, String)> {
    let evidence = trial.evidence;
    let rests_on_replies = !matches!(
        entry.kind(),
        MetricKind::Timing
            | MetricKind::Assertions
            | MetricKind::State
            | MetricKind::SimulatedUser
            | MetricKind::Unavailable
    );
    if let Some(turn) = evidence.turn_after_break().filter(|_| rests_on_replies) {
        return Some((turn, after_break(turn)));
    }
    if let Some(turn) = evidence.turn_with_unseen_calls().filter(|_| metric::looks_at_calls(&entry.metric)) {
        return Some((turn, unseen_calls(turn)));
    }
    let expects_state = trial.case.expected.as_ref().is_some_and(|expected| expected.state.is_some());
    metric::state_use(&entry.metric, expects_state)?;
    let turn = evidence.first_maybe_doubled_turn().filter(|_| !evidence.agent_ended_it() && !is_as_before(trial))?;
    let doubled = "a message was sent again that the agent may have received before, so that its state may be doubled";
    Some((turn, doubled.to_owned()))
}

/// Whether the agent's state is known to be as it was before the conversation.
fn is_as_before(trial: GradeInput<'_>) -> bool {
    let before = trial.evidence.before.as_ref().and_then(|before| before.object_context.as_ref());
    match (before, &trial.evidence.object_context) {
        (Some(Observed::Seen(before)), Some(Observed::Seen(after))) => before == after,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
