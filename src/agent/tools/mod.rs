//! Functions with results from the job, for the members that are bare models.
//!
//! Invariants: no function is ever really called; the rounds of one turn are bounded; times and tokens of a turn are those
//! of all its rounds together.

mod config;
mod mock;
mod rounds;

pub(super) use config::bare_model;
pub use config::{ToolConfig, tool_problems};
pub(super) use rounds::{EndpointError, ModelCall, Round, Rounds, named_status};
