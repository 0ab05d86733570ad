//! Errors in the content of an agent's replies.

use super::AgentErrorKind;

/// Why the content of a reply is no answer to the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is not of the protocol's shape.
    #[error("{0}")]
    Malformed(String),
    /// The agent reports a failure, or there is no text.
    #[error("{0}")]
    Failed(String),
}

impl WireError {
    /// The kind of failure.
    pub fn kind(&self) -> AgentErrorKind {
        match self {
            WireError::Malformed(_) => AgentErrorKind::Unreadable,
            WireError::Failed(_) => AgentErrorKind::BadReply,
        }
    }
}
