//! The purpose of a script: the variables that it sees, and what it must give.

use super::api::{ApiType, Shape};

/// The purpose of a script.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptPurpose {
    /// The variables that it sees.
    pub(crate) variables: &'static [(&'static str, Shape)],
    /// The type of its result.
    pub gives: Gives,
    /// A script that can run.
    pub example: &'static str,
}

/// The type of a script's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// True or false.
    Truth,
    /// A number from 0 to 1, true or false, or a map of a score and its reason.
    Score,
}

/// An assertion: it sees what the agent shows of itself, what happened, and what it did to the graph.
pub static EXPRESSION: ScriptPurpose = ScriptPurpose {
    variables: &[
        ("objectContext", Shape::One(ApiType::ObjectContext)),
        ("evaluation", Shape::One(ApiType::Evaluation)),
        ("changes", Shape::One(ApiType::Changes)),
    ],
    gives: Gives::Truth,
    example: "objectContext.resources.size == 1",
};

/// Whether an actual value is as expected.
pub static COMPARISON: ScriptPurpose = ScriptPurpose {
    variables: &[("actual", Shape::Free), ("expected", Shape::Free)],
    gives: Gives::Truth,
    example: "actual.trim() == expected.trim()",
};

/// A metric of a job's own.
pub static METRIC: ScriptPurpose = ScriptPurpose {
    variables: &[
        ("turns", Shape::Many(ApiType::Turn)),
        ("toolCalls", Shape::Many(ApiType::ToolUse)),
        ("reply", Shape::Free),
        ("state", Shape::Free),
        ("expected", Shape::Free),
    ],
    gives: Gives::Score,
    example: "if toolCalls.size <= 3 { 1.0 } else { 3.0 / toolCalls.size }",
};

impl ScriptPurpose {
    /// Its variables, as a sentence lists them.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.variables.iter().map(|(name, _)| format!("`{name}`")).collect();
        match names.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => names.concat(),
        }
    }

    /// The type of its result, as a sentence says it.
    pub(crate) fn must_be(&self) -> &'static str {
        match self.gives {
            Gives::Truth => "true or false",
            Gives::Score => "a number from 0 to 1, true, false, or a map such as #{score: 0.5, reason: \"…\"}",
        }
    }
}
