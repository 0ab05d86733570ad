//! Why a script came to no value, and who has to mend it.

use std::time::Duration;

use rhai::{AST, ASTNode, EvalAltResult, Expr};

use super::engine::{MAX_CALL_LEVELS, MAX_OPERATIONS};
use super::show;
use crate::score::{Component, Score};

/// Why a script came to no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptFailure {
    /// It needed data that is not there: false.
    Absent,
    /// It needed data that is not there, in a place where false would be a guess.
    AbsentWithin,
    /// It took longer than this.
    OutOfTime(Duration),
    /// It passed a limit of steps, calls or memory.
    PastLimit(String),
    /// A type error.
    Other(String),
}

/// A script without a result: why, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub(super) String);

impl ScriptFailure {
    /// Reads Rhai's error.
    pub(crate) fn from_rhai(error: &EvalAltResult, ast: &AST) -> ScriptFailure {
        match innermost(error) {
            EvalAltResult::ErrorTooManyOperations(_) => {
                ScriptFailure::PastLimit(format!("the script passed the limit of {MAX_OPERATIONS} operations"))
            }
            EvalAltResult::ErrorStackOverflow(_) => {
                ScriptFailure::PastLimit(format!("the script passed the limit of {MAX_CALL_LEVELS} calls within calls"))
            }
            EvalAltResult::ErrorDataTooLarge(what, _) => {
                ScriptFailure::PastLimit(format!("the script passed the limit of memory: {what}"))
            }
            EvalAltResult::ErrorStringBounds(..) => ScriptFailure::absent(ast),
            EvalAltResult::ErrorMismatchDataType(_, actual, _) if actual == "()" => ScriptFailure::absent(ast),
            EvalAltResult::ErrorFunctionNotFound(signature, _) if takes_unit(signature) => ScriptFailure::absent(ast),
            EvalAltResult::ErrorFunctionNotFound(signature, _) => ScriptFailure::Other(plain(signature)),
            EvalAltResult::ErrorRuntime(value, _) => ScriptFailure::Other(value.to_string()),
            other => ScriptFailure::Other(other.to_string()),
        }
    }

    /// False, if all of the script has to hold; within `||`, `!` or a closure the rest could still make it true.
    fn absent(ast: &AST) -> ScriptFailure {
        let mut all_has_to_hold = true;
        ast.walk(&mut |path: &[ASTNode]| {
            all_has_to_hold &= !matches!(
                path.last(),
                Some(ASTNode::Expr(Expr::Or(..) | Expr::DynamicConstant(..) | Expr::Coalesce(..)))
            ) && !matches!(path.last(), Some(ASTNode::Expr(Expr::FnCall(call, _))) if call.name == "!");
            all_has_to_hold
        });
        if all_has_to_hold { ScriptFailure::Absent } else { ScriptFailure::AbsentWithin }
    }

    /// Whether a script that must be true is false for this.
    pub(crate) fn is_false(&self) -> bool {
        *self == ScriptFailure::Absent
    }

    /// The component of the assertion.
    pub(crate) fn into_component(self, script: &str) -> Component {
        let why = self.why(script);
        if self.is_false() { Component::scored(Score::ZERO, why) } else { Component::missing(why) }
    }

    /// The failure in a sentence.
    pub(crate) fn why(&self, script: &str) -> String {
        match self {
            ScriptFailure::Absent => format!("{}: some data is absent", show::line(script)),
            ScriptFailure::AbsentWithin => {
                "the expression needs true or false where data is absent; compare the data with \
                                            something, as in `it.properties.done == true`"
                    .to_owned()
            }
            ScriptFailure::OutOfTime(limit) => format!(
                "the expression took longer than {} s; compare fewer items, for example filter them once before a closure \
                 that goes through them for every item",
                limit.as_secs_f64()
            ),
            ScriptFailure::PastLimit(error) | ScriptFailure::Other(error) => error.clone(),
        }
    }
}

fn innermost(error: &EvalAltResult) -> &EvalAltResult {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => innermost(inner),
        other => other,
    }
}

/// Whether one of a call's arguments, as Rhai lists them (`name (i64, ())`), was `()`.
fn takes_unit(signature: &str) -> bool {
    let arguments = signature.split_once('(').map_or("", |(_, arguments)| arguments);
    arguments.trim_end_matches(')').len() < arguments.len() && arguments.contains("()")
}

fn plain(signature: &str) -> String {
    format!("there is no function for these types: {signature}")
}
