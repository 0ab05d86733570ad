//! Assertions in Rhai, over what the agent shows of itself (`objectContext`), what happened (`evaluation`) and what it did
//! to the graph (`changes`).
//!
//! Invariants: a name that our API does not have is found when the job is loaded; absent data makes an assertion false,
//! never an error; a script reads and computes, it has no files, no modules, no clock and no end of its own: limits stop
//! it, the deadline also within closures. An expression that is stopped by a limit or a type error is missing, never false.

mod config;
mod inspected;
mod outcome;
mod sides;
mod usage;
mod views;

pub use crate::script::{ExpressionProblem, TIME_LIMIT};
pub use config::ExpressionCheck;
pub use outcome::unusable;
pub use usage::{context_parts, same_context, uses_function_calls, uses_user_tool_calls};

use rhai::{Dynamic, Scope};

use crate::clock::Deadline;
use crate::evidence::{Evidence, Observed};
use crate::score::{Component, Score};
use crate::script::{self, EXPRESSION};

/// The first thing that is wrong with a script: its syntax, or a name that it can't use. `None` if it can run.
pub fn compile_problem(script: &str) -> Option<ExpressionProblem> {
    script::checked(script, &EXPRESSION).err()
}

/// Evaluates it on what a trial left behind; `job` is the job's name, which the script sees as `evaluation.job`.
pub fn evaluate(check: &ExpressionCheck, job: &str, evidence: &Evidence, deadline: Deadline) -> Component {
    evaluate_with(check, job, evidence, deadline, Some(sides::explain))
}

/// Evaluates it without the reasons for a failure, which take longer to find.
pub fn evaluate_briefly(check: &ExpressionCheck, job: &str, evidence: &Evidence, deadline: Deadline) -> Component {
    evaluate_with(check, job, evidence, deadline, None)
}

/// Says what made an expression false.
type Explain = fn(&str, &Scope<'static>, Deadline) -> Option<String>;

fn evaluate_with(
    check: &ExpressionCheck,
    job: &str,
    evidence: &Evidence,
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
    script::take_spelled_alike();
    let result = script::run(&script.ast, &mut scope(), &EXPRESSION, deadline);
    let alike = script::take_spelled_alike();
    match result {
        Ok(value) => verdict(text, &value, || {
            let why = explain.and_then(|explain| explain(text, &scope(), deadline));
            let Some(alike) = alike else { return why };
            Some(format!("{}; {alike}", why.unwrap_or_else(|| format!("{} is false", script::line(text)))))
        }),
        Err(failure) => failure.into_component(text),
    }
}

fn verdict(text: &str, value: &Dynamic, explain: impl FnOnce() -> Option<String>) -> Component {
    if value.is_unit() {
        return Component::scored(Score::ZERO, format!("{}: it gives `()`, some data is absent", script::line(text)));
    }
    match value.as_bool() {
        Ok(true) => Component::scored(Score::ONE, "is true"),
        Ok(false) => {
            let why = explain().unwrap_or_else(|| format!("{} is false", script::line(text)));
            Component::scored(Score::ZERO, why)
        }
        Err(_) => Component::missing(script::no_boolean(value)),
    }
}

#[cfg(test)]
mod tests;
