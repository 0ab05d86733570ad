//! What the agent reports about its own work.

use serde::{Deserialize, Serialize};

/// One thing that the agent reported about its work in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The system prompt that the agent's model was given.
    SystemPrompt {
        /// The prompt.
        text: String,
    },
    /// A request to the knowledge-graph service.
    GraphRequest {
        /// What was asked of it.
        content: String,
        /// How its answer was to be summarised.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary_direction: Option<String>,
    },
    /// The agent called a function.
    FunctionCall(ToolCall),
    /// A function answered.
    FunctionResponse {
        /// Its output, as the agent reported it.
        output: serde_json::Value,
    },
    /// Something else: kept as it came.
    Other {
        /// As it came.
        data: serde_json::Value,
    },
}

/// One call of a function by the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The function's name.
    pub function: String,
    /// Its arguments, as the agent reported them.
    pub args: serde_json::Value,
}
