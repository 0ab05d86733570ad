//! Embabel's protocol from the server's side: the bodies of its three calls, as published.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `PUT …/sessions`.
#[derive(Debug, Deserialize)]
pub(super) struct OpenRequest {
    pub(super) user: String,
    pub(super) chatbot: String,
}

/// Its response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenResponse {
    pub(super) session_id: String,
}

/// `PUT …/messages`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SayRequest {
    pub(super) session_id: String,
    pub(super) message: WireMessage,
    pub(super) model: String,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WireMessage {
    pub(super) content: String,
    pub(super) role: String,
}

/// Its response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SayResponse {
    pub(super) session_id: String,
    pub(super) chatbot: String,
    pub(super) message: WireMessage,
    pub(super) history: Vec<WireMessage>,
    pub(super) events: Vec<WireEvent>,
}

/// What the agent reports about its work; told apart by shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum WireEvent {
    /// The system prompt.
    #[serde(rename_all = "camelCase")]
    SystemPrompt { system_prompt: String },
    /// A request to the graph.
    GraphRequest { content: String },
    /// A function call.
    FunctionCall { request: WireCall },
    /// A function's response.
    FunctionResponse { output: Value },
}

/// A function call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct WireCall {
    pub(super) function: WireFunction,
    pub(super) arguments: Value,
    pub(super) context: String,
}

/// Which function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct WireFunction {
    pub(super) name: String,
}

/// What went wrong.
#[derive(Debug, Serialize)]
pub(super) struct ErrorResponse {
    pub(super) error: String,
}
