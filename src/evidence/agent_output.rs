//! The output of an agent that eval-job started.

use serde::{Deserialize, Serialize};

/// The beginning and end of what the agent's processes wrote to stdout and stderr during a trial: untrusted text, with
/// secrets redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentOutput {
    /// All of it; where it was too much, its beginning.
    pub beginning: String,
    /// How many bytes between beginning and end were not kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
    /// Its end, where something was dropped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub end: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
