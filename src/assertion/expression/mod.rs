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
mod names;
mod problem;
mod show;
mod sides;
mod tokens;
mod views;

pub use config::ExpressionCheck;
pub use problem::{ExpressionProblem, compile_problem};

use std::time::Duration;

use rhai::Dynamic;

use crate::clock::Deadline;
use crate::evidence::{Evidence, Observed};
use crate::score::{Component, Score};

/// So long an expression may take, on all that a trial left behind: a few milliseconds are usual.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Evaluates it on what a trial left behind; `job` is the job's name, which the script sees as `evaluation.job`.
pub fn evaluate(check: &ExpressionCheck, job: &str, evidence: &Evidence, deadline: Deadline) -> Component {
    let script = &check.expression;
    if let Some(problem) = compile_problem(script) {
        return Component::missing(problem.to_string());
    }
    let context = match &evidence.object_context {
        Some(Observed::Seen(context)) => Some(context),
        _ if !uses_object_context(script) => None,
        Some(Observed::Failed(error)) => {
            return Component::missing(format!("the object context could not be read: {error}"));
        }
        None => return Component::missing("the object context was never read"),
    };
    let changes = match &evidence.changes {
        Some(Observed::Seen(changes)) => Some(changes.as_slice()),
        _ if !uses_changes(script) => None,
        Some(Observed::Failed(error)) => {
            return Component::missing(format!("the graph could not be watched: {error}"));
        }
        None => return Component::missing("the graph was not watched"),
    };
    let scope = views::scope(context, changes, job, evidence);
    match engine::run(script, &mut scope.clone(), deadline) {
        Ok(value) => verdict(script, &value, || sides::explain(script, &scope, deadline)),
        Err(failure) => failure.into_component(script),
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
        Err(_) => Component::missing(format!(
            "the expression must be true or false, but it is {}; compare it with something",
            show::value(value)
        )),
    }
}

/// Whether a script looks at the object context, so that it has to be fetched. True unless it clearly does not.
pub fn uses_object_context(script: &str) -> bool {
    tokens::tokens(script).iter().any(|token| match token.kind {
        tokens::Kind::Word => token.text == "objectContext",
        tokens::Kind::Template => token.text.contains("objectContext"),
        _ => false,
    })
}

/// Whether a script looks at the functions that the agent called, `evaluation.functionCalls`.
pub fn uses_function_calls(script: &str) -> bool {
    const NAME: &str = "functionCalls";
    let tokens = tokens::tokens(script);
    tokens.iter().enumerate().any(|(at, token)| match token.kind {
        tokens::Kind::Word => token.text == NAME,
        // `evaluation["functionCalls"]` is the same.
        tokens::Kind::Quoted => {
            let is_index = at > 0 && (tokens[at - 1].is("[") || tokens[at - 1].is("?["));
            is_index && token.text.trim_matches(['"', '\'']) == NAME
        }
        tokens::Kind::Template => token.text.contains("${") && token.text.contains(NAME),
        tokens::Kind::Sign => false,
    })
}

/// Whether a script looks at what has changed in the graph. A property that is called so does not count.
pub fn uses_changes(script: &str) -> bool {
    let tokens = tokens::tokens(script);
    tokens.iter().enumerate().any(|(at, token)| match token.kind {
        tokens::Kind::Word if token.text == "changes" => {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            before.is_none_or(|before| !before.is(".") && !before.is("?."))
        }
        tokens::Kind::Template => uses_changes_within(token.text),
        _ => false,
    })
}

/// In `${…}` of a text; every mention counts.
fn uses_changes_within(template: &str) -> bool {
    template.contains("${") && template.contains("changes")
}

#[cfg(test)]
mod tests;
