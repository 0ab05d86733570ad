//! Predictions of a script's value before the conversation that it is about.

use super::{ExpressionCheck, views};
use crate::clock::Deadline;
use crate::evidence::{Evidence, Observed};
use crate::script::{EXPRESSION, ScriptFailure, no_boolean, run};

/// Why a script can't tell whether anything holds, as far as a moment before the conversation shows: it gives something
/// else than true or false there, or does not end. Data that is absent is no reason: it may come.
pub fn unusable(check: &ExpressionCheck, job: &str, before: &Evidence, deadline: Deadline) -> Option<String> {
    let script = check.compiled().ok()?;
    let context = before.object_context.as_ref().and_then(seen);
    let changes = before.changes.as_ref().and_then(seen).map(Vec::as_slice);
    let mut scope = views::scope(script, context, changes, job, before);
    match run(&script.ast, &mut scope, &EXPRESSION, deadline) {
        Ok(value) if value.is_bool() || value.is_unit() => None,
        Ok(value) => Some(no_boolean(&value)),
        Err(failure @ (ScriptFailure::OutOfTime(_) | ScriptFailure::PastLimit(_))) => {
            Some(failure.into_component(check.text()).why().to_owned())
        }
        Err(_) => None,
    }
}

fn seen<T>(observed: &Observed<T>) -> Option<&T> {
    match observed {
        Observed::Seen(value) => Some(value),
        Observed::Failed(_) => None,
    }
}
