//! The parts of a score that a conversation leaves open: those that rest on lines of the script that were not said, and those that
//! rest on calls that could not be read.

use super::GradeInput;
use crate::evidence::{Ending, Event, EventKind};
use crate::job::User;
use crate::metric::MetricKind;
use crate::score::{Component, Dimension, Item, Weight};

/// The most characters of an event that are quoted.
const QUOTED: usize = 160;

/// Makes missing what the conversation leaves open.
pub(super) fn leave_open(trial: GradeInput<'_>, dimensions: &mut [Dimension]) {
    if let Some(error) = unsaid_lines(trial) {
        let last = trial.evidence.transcript.turns.last().map_or(0, |turn| turn.number);
        // Reply times are those of the turns that there are.
        let cut = dimensions.iter_mut().filter(|dimension| dimension.metric() != MetricKind::Timing.as_str());
        for dimension in cut {
            let is_open = |item: &Item| item.turn.is_none_or(|turn| turn > last);
            dimension.items.iter_mut().filter(|item| is_open(item)).for_each(|item| set_missing(item, &error));
            unless_not_applicable(&mut dimension.component, &error);
        }
    }
    if let Some(error) = unread_calls(trial) {
        for dimension in dimensions {
            if dimension.metric() == MetricKind::Trajectory.as_str() {
                dimension.items.iter_mut().for_each(|item| set_missing(item, &error));
                unless_not_applicable(&mut dimension.component, &error);
            }
            if dimension.metric() == MetricKind::Assertions.as_str() {
                let items = dimension.items.iter_mut().zip(&trial.case.assertions);
                let open = items.filter(|(_, assertion)| assertion.check.needs_function_calls());
                let mut decides = false;
                for (item, _) in open {
                    set_missing(item, &error);
                    decides |= item.weight > Weight::ZERO && item.component.is_missing();
                }
                if decides {
                    unless_not_applicable(&mut dimension.component, &error);
                }
            }
        }
    }
}

fn set_missing(item: &mut Item, error: &str) {
    unless_not_applicable(&mut item.component, error);
    if item.component.is_missing() {
        item.vacuity = None;
    }
}

fn unless_not_applicable(component: &mut Component, error: &str) {
    if component.score().is_some() {
        *component = Component::missing(error);
    }
}

/// The error where `maxTurns` ended the conversation before all lines of the script were said: nobody knows how the agent would have
/// answered them.
fn unsaid_lines(trial: GradeInput<'_>) -> Option<String> {
    let GradeInput { job, case, evidence, .. } = trial;
    let User::Lines(lines) = &case.user else { return None };
    let needed = job.messages_of_lines(case)?;
    let said = evidence.transcript.turns.iter().filter(|turn| !turn.is_greeting()).count();
    let unsaid = (lines.len() + job.opening_turns(case) as usize).saturating_sub(said).min(lines.len());
    (evidence.ending == Ending::MaxTurns && unsaid > 0).then(|| {
        let lines = if lines.len() == 1 {
            "its line was".to_owned()
        } else {
            format!("{unsaid} of its {} lines were", lines.len())
        };
        format!("maxTurns cut the script off: {lines} not said; leave maxTurns out, or say {needed}")
    })
}

/// The error where the agent of a templated transport reported something that may be a call in a shape that is not understood, and no
/// call that is.
fn unread_calls(trial: GradeInput<'_>) -> Option<String> {
    let GradeInput { job, evidence, .. } = trial;
    if !job.target.transport.is_templated() {
        return None;
    }
    let events = || evidence.transcript.turns.iter().flat_map(|turn| &turn.events);
    if events().any(|event| matches!(event.kind, EventKind::FunctionCall(_))) {
        return None;
    }
    let first = events().find(|event| event.may_be_unread_call()).map(Event::to_json)?.to_string();
    let quote: String = first.chars().take(QUOTED).collect();
    let more = if quote.len() < first.len() { "…" } else { "" };
    Some(format!(
        "what the agent called is not known: no event of the conversation has the shape of a call. The first is {quote}{more}; what \
         `events` of target.{} finds is a call where it has `name`, `function` or `tool` beside `args`, `arguments`, `input` or \
         `parameters`",
        job.target.transport.key()
    ))
}

#[cfg(test)]
mod tests;
