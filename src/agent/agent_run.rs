//! A run of an agent, for the protocols that report runs.

use crate::evidence::{Event, Usage};

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRun {
    /// The final response.
    pub text: String,
    /// Function calls, their results, and texts before the final response, in order.
    pub events: Vec<Event>,
    /// The tokens of all requests to models that the run made; `None` where none was reported.
    pub usage: Option<Usage>,
}
