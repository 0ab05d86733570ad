//! Scripts in Rhai: the one engine, its limits, and what is wrong with a script before it runs. Assertions, comparisons of
//! values and metrics of a job's own are scripts; what each of them sees and must give is its [`ScriptPurpose`].
//!
//! Invariants: a name that our API does not have is found when the job is loaded; a script reads and computes, it has no
//! files, no modules, no clock and no end of its own: limits stop it, the deadline also within closures.

mod absent;
mod api;
mod closures;
mod compare;
mod ending;
mod engine;
mod failure;
mod functions;
mod kotlin;
mod names;
mod problem;
mod purpose;
mod record;
mod show;
mod text;
mod tokens;

pub(crate) use api::ApiType;
pub(crate) use compare::{order_of_whole, take_spelled_alike, whole_float};
pub(crate) use engine::{evaluate_part, run};
pub use failure::ScriptError;
pub(crate) use failure::ScriptFailure;
pub use problem::ExpressionProblem;
pub(crate) use problem::checked;
pub use purpose::{COMPARISON, EXPRESSION, Gives, METRIC, ScriptPurpose};
pub(crate) use record::{Record, data, list, map};
pub(crate) use show::{line, no_boolean, short, shown};
pub use text::ScriptText;
pub(crate) use tokens::{Lexeme, LexemeKind, closing, tokens};

use std::time::Duration;

/// The time limit of one script run. A few milliseconds are usual.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);
