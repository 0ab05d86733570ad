//! Functions with results from the job, for the transports to bare models.
//!
//! In: the rounds of one turn. Out: the results of the model's calls, and the turn's reply.
//!
//! Invariants: no function is ever really called; the rounds of one turn are bounded; times and tokens of a turn are those
//! of all its rounds together.

mod config;
mod mock;
mod rounds;

pub use config::{ToolConfig, ToolMockConfig, tool_problems};
pub(super) use config::{bare_model, with_mocked};
pub(super) use rounds::{EndpointError, RequestedCall, Round, ToolRounds, named_status};
