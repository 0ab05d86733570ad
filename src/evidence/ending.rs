//! How a conversation ended.

use serde::{Deserialize, Serialize};

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Ending {
    /// The persona said goodbye.
    SignedOff {
        /// Why, in its own words; `None` where it gave no reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// All fixed lines of `evaluator.script` were sent.
    ScriptEnded,
    /// The limit of `maxTurns` messages was reached: graded like any other ending.
    MaxTurns,
    /// The agent failed to answer to the end of the retries.
    AgentFailed {
        /// The last error.
        error: String,
    },
    /// It never ended: the run was killed or interrupted.
    CutOff,
    /// The time limit of the conversation ran out.
    TimeLimit {
        /// The limit, in seconds.
        seconds: f64,
    },
}
