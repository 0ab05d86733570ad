//! Assertions in Rhai, over what the agent shows of itself (`objectContext`), what happened (`evaluation`) and what it did
//! to the graph (`changes`).
//!
//! Invariants: a name that our API does not have is found when the job is loaded; absent data makes an assertion false,
//! never an error; a script reads and computes, it has no files, no modules, no clock and no end of its own: limits stop
//! it, the deadline also within closures. What a limit or a type error stops is missing, never false.

mod absent;
mod api;
mod closures;
mod compare;
mod config;
mod engine;
mod failure;
mod functions;
mod kotlin;
mod usage;
mod names;
mod outcome;
mod problem;
mod inspected;
mod show;
mod sides;
mod tokens;
mod views;

pub use config::ExpressionCheck;
pub use outcome::unusable;
pub use problem::{ExpressionProblem, compile_problem};
pub use usage::{context_parts, same_context, uses_function_calls};

use std::time::Duration;

use rhai::{Dynamic, Scope};

use crate::clock::Deadline;
use crate::evidence::{Evidence, Observed};
use crate::score::{Component, Score};

/// So long an expression may take, on all that a trial left behind: a few milliseconds are usual.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Evaluates it on what a trial left behind; `job` is the job's name, which the script sees as `evaluation.job`.
pub fn evaluate(check: &ExpressionCheck, job: &str, evidence: &Evidence, deadline: Deadline) -> Component {
    evaluate_with(check, (job, evidence), deadline, Some(sides::explain))
}

/// The same for whoever asks only whether it holds: what made it false takes longer to find than that it is.
pub fn evaluate_briefly(check: &ExpressionCheck, job: &str, evidence: &Evidence, deadline: Deadline) -> Component {
    evaluate_with(check, (job, evidence), deadline, None)
}

/// Says what made an expression false.
type Explain = fn(&str, &Scope<'static>, Deadline) -> Option<String>;

fn evaluate_with(
    check: &ExpressionCheck,
    (job, evidence): (&str, &Evidence),
    deadline: Deadline,
    explain: Option<Explain>,
) -> Component {
    let script = match check.compiled() {
        Ok(script) => script,
        Err(problem) => return Component::missing(problem.to_string()),
    };
    let context = match &evidence.object_context {
        Some(Observed::Seen(context)) => Some(context),
        _ if !script.uses_object_context => None,
        Some(Observed::Failed(error)) => {
            return Component::missing(format!("the object context could not be read: {error}"));
        }
        None => return Component::missing("the object context was never read"),
    };
    let changes = match &evidence.changes {
        Some(Observed::Seen(changes)) => Some(changes.as_slice()),
        _ if !script.uses_changes => None,
        Some(Observed::Failed(error)) => {
            return Component::missing(format!("the graph could not be watched: {error}"));
        }
        None => return Component::missing("the graph was not watched"),
    };
    let text = check.text();
    let scope = || views::scope(script, context, changes, job, evidence);
    compare::take_spelled_alike();
    let result = engine::run(&script.ast, &mut scope(), deadline);
    let alike = compare::take_spelled_alike();
    match result {
        Ok(value) => verdict(text, &value, || {
            let why = explain.and_then(|explain| explain(text, &scope(), deadline));
            let Some(alike) = alike else { return why };
            Some(format!("{}; {alike}", why.unwrap_or_else(|| format!("{} is false", show::line(text)))))
        }),
        Err(failure) => failure.into_component(text),
    }
}

fn verdict(script: &str, value: &Dynamic, explain: impl FnOnce() -> Option<String>) -> Component {
    if value.is_unit() {
        return Component::scored(Score::ZERO, format!("{}: it gives `()`, some data is absent", show::line(script)));
    }
    match value.as_bool() {
        Ok(true) => Component::scored(Score::ONE, "is true"),
        Ok(false) => {
            let why = explain().unwrap_or_else(|| format!("{} is false", show::line(script)));
            Component::scored(Score::ZERO, why)
        }
        Err(_) => Component::missing(show::no_boolean(value)),
    }
}

#[cfg(test)]
mod tests;
