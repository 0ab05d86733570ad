//! One message of a conversation.

use serde::{Deserialize, Serialize};

/// Who speaks. The four roles of Embabel's wire protocol and of chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, or the persona posing as one.
    User,
    /// The agent.
    Assistant,
    /// Instructions.
    System,
    /// The result of a tool.
    Tool,
}

impl Role {
    /// The role's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
            Role::Tool => "tool",
        }
    }
}

/// A message with its author's role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The message as it was sent: untrusted text.
    pub content: String,
}

impl Message {
    /// A message of this role.
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message { role, content: content.into() }
    }
}
