//! Assertions that can't fail, or held before anybody did anything.

use serde::{Deserialize, Serialize};

/// Why an assertion that holds, or a metric that passes, may say nothing of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Vacuity {
    /// It held before the conversation too, and it holds on an empty graph and an empty object context. Of a metric: its score
    /// is the same whatever the agent says and does.
    Vacuous,
    /// It held before the conversation too, though it would not hold with nothing there. Where nothing that it looks at has
    /// changed since, it is missing; else it counts.
    HeldBefore,
    /// Of a metric: an agent that calls no tool, and says what it likes, gets no less.
    Idle,
    /// It could not be determined.
    NotChecked {
        /// The reason, in a sentence.
        why: String,
    },
}

/// The effect on the gate of an assertion that can't fail, or that held before the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VacuousGate {
    /// It is reported and changes nothing.
    #[default]
    Warn,
    /// The gate fails.
    Fail,
}
