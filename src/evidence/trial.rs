//! Which conversation of a run this is.

use serde::{Deserialize, Serialize};

use super::Condition;

/// Which trial of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialId {
    /// Counted from 1 within the run.
    pub number: u32,
    /// The agent's model.
    pub model: String,
    /// Which of the two conversations.
    pub condition: Condition,
    /// Which repetition, counted from 1.
    pub repeat: u32,
}
