//! Figures, and what becomes of several scores: status by threshold, runs, pass@k.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about numbers.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let is_of_numbers = |key: &str| vector.list(key).iter().all(|it| it.is_number());
    let kind = match vector.system.as_str() {
        "adk" if vector.has(&["score", "threshold"]) => "status",
        "adk" if vector.has(&["calls"]) => "token usage",
        "adk" if vector.has(&["runs_invocation_scores"]) => "several runs",
        "trpc" if vector.has(&["n", "c", "k"]) => "pass@k",
        "trpc" if vector.has(&["metric_statuses"]) => "status of a case",
        "trpc" if vector.has(&["samples"]) && is_of_numbers("samples") => "majority",
        "redhat" if vector.has(&["line"]) => "report of tokens",
        "redhat" if vector.has(&["stdout_lines"]) => "messages on standard output",
        _ => return None,
    };
    Some((kind, Answer::Pending("text measures")))
}
