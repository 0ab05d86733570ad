//! Functions with results from the job, for the transports to bare models.
//!
//! In: the rounds of one turn. Out: the results of the model's calls, and the turn's reply.
//!
//! Invariants: no function is ever really called, and a result that a model makes up is a [`ResultWriter`]'s; the rounds of one turn are bounded; times and tokens of a turn are those
//! of all its rounds together.

mod config;
mod mock;
mod rounds;
mod turns;

pub use config::{ToolConfig, ToolMockConfig, tool_problems};
pub(super) use config::{bare_model, with_mocked};
pub(super) use rounds::{EndpointError, RequestedCall, Round, ToolRounds, named_status};
pub(super) use turns::CallAnswers;
pub use turns::{ResultError, ResultWriter, TurnPart, TurnParts, WantedResult};
