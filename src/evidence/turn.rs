//! One user message and the agent's reply.

use serde::{Deserialize, Serialize};

use super::{Event, Usage};

/// One user message and the agent's reply, counted from 1; an agent's opening greeting would be turn 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Counted from 1.
    pub number: u32,
    /// What the persona said.
    pub user: String,
    /// What the agent answered; `None` when it never did.
    pub agent: Option<String>,
    /// What the agent reported about its work during this turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Milliseconds from sending the successful try to the end of its reply; `None` without a reply. Failed tries and
    /// the waits between them are not in it.
    pub latency_ms: Option<f64>,
    /// The tries that failed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedTry>,
    /// The message was sent again although an earlier try may have been received.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maybe_delivered: bool,
    /// The agent's own tokens, where its transport reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[cfg(test)]
impl Turn {
    /// A turn of nothing but words.
    pub(crate) fn said(number: u32, user: &str, agent: &str) -> Turn {
        Turn {
            number,
            user: user.to_owned(),
            agent: Some(agent.to_owned()),
            events: Vec::new(),
            latency_ms: None,
            failures: Vec::new(),
            maybe_delivered: false,
            usage: None,
        }
    }
}

/// One try of a message that did not bring a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedTry {
    /// What went wrong, in a sentence without secrets.
    pub error: String,
    /// Whether the agent can have received the message all the same.
    pub maybe_received: bool,
}
