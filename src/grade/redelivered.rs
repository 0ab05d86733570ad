//! What can't be charged to the agent, nor counted for it, since a message was sent again that it may have had before.

use super::GradeInput;
use crate::assertion::{after_break, unseen_calls};
use crate::evidence::Observed;
use crate::metric::{self, MetricEntry, MetricKind};
use crate::score::{Component, Dimension, Item, Weight};

/// A dimension without what went badly and may not be the agent's doing: what went well counts.
pub(super) fn adjusted(entry: &MetricEntry, trial: GradeInput<'_>, dimension: Dimension) -> Dimension {
    // What does not count is charged to nobody.
    let decides = dimension.weight != Weight::ZERO || dimension.threshold.is_some();
    let doubt = doubt(entry, trial).filter(|_| decides);
    let Some((turn, doubt)) = doubt else { return dimension };
    let good = dimension.pass_line();
    let is_bad = |component: &Component| component.score().is_some_and(|score| !good.is_met(score));
    let mut in_doubt = false;
    let mut item = |item: Item| match item.turn.is_none_or(|it| it == turn) && is_bad(&item.component) {
        true => {
            in_doubt = true;
            Item { component: Component::missing(doubt.clone()), ..item }
        }
        false => item,
    };
    let items: Vec<Item> = dimension.items.into_iter().map(&mut item).collect();
    let in_doubt = if items.is_empty() { is_bad(&dimension.component) } else { in_doubt };
    let component = if in_doubt { Component::missing(doubt) } else { dimension.component };
    Dimension { component, items, ..dimension }
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
