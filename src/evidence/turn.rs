//! One user message and the agent's reply.

use serde::{Deserialize, Serialize};

use super::{Event, Usage};

/// One user message and the agent's reply, counted from 1; an agent's opening greeting is turn 0, without a user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Counted from 1; 0 for the agent's opening greeting.
    pub number: u32,
    /// The persona's message; empty in turn 0.
    pub user: String,
    /// The agent's reply; `None` when it never replied.
    pub agent: Option<String>,
    /// The agent's reports about its work during this turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Milliseconds of the successful try, from the last byte of the message to the last byte of the reply; `None` without
    /// a reply. Failed tries, the waits between them, connecting and our own work are not in it.
    pub latency_ms: Option<f64>,
    /// Milliseconds of the successful try, from the last byte of the message to the first token of the reply; `None`
    /// where the transport does not stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// Milliseconds of the whole turn as its user would wait: the latency, and beside it the failed tries with the waits
    /// between them, connecting, and our own work. `None` where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_ms: Option<f64>,
    /// The tries that failed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedAttempt>,
    /// The message was sent again although an earlier try may have been received.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maybe_delivered: bool,
    /// Why the agent, which keeps the session, may have had the message before: what it did then nobody saw, and its reply may rest
    /// on it. `None` where it can't have had it, where each request carries the whole conversation, and in records of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redelivered: Option<Redelivery>,
    /// The agent's own tokens, where its transport reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The agent's context by a recording: its instructions and tools. Judges are shown it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<TurnContext>,
}

/// Why a message was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Redelivery {
    /// eval-job was cut off before the reply came: nothing of it is the agent's doing.
    AfterBreak,
    /// A try of it failed: the reply is the agent's answer to whoever tries again.
    AfterFailure,
}

/// The greetings of a job that names none: one of them is drawn for each conversation.
pub const GREETINGS: [&str; 5] = ["Hello", "Hi", "Greetings", "Yo", "Hey"];

/// A text that an agent had before it in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnContext {
    /// Its name for judges.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Turn {
    /// A turn that has just begun. Turn 0 has no user message: it is the agent's greeting.
    pub fn begun(number: u32, user: String) -> Turn {
        Turn {
            number,
            user,
            agent: None,
            events: Vec::new(),
            latency_ms: None,
            first_token_ms: None,
            spent_ms: None,
            failures: Vec::new(),
            maybe_delivered: false,
            redelivered: None,
            usage: None,
            context: Vec::new(),
        }
    }

    /// Empties its texts and drops its events.
    pub(crate) fn clear_texts(&mut self) {
        self.user = String::new();
        self.agent = self.agent.take().map(|_| String::new());
        self.events = Vec::new();
    }

    /// Whether it is the agent's greeting, which answers no message.
    pub fn is_greeting(&self) -> bool {
        self.number == 0
    }
}

#[cfg(test)]
impl Turn {
    /// An answered turn without events or times.
    pub(crate) fn answered(number: u32, user: &str, agent: &str) -> Turn {
        Turn { agent: Some(agent.to_owned()), ..Turn::begun(number, user.to_owned()) }
    }
}

/// One try of a message that did not bring a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempt {
    /// The error, in a sentence without secrets.
    pub error: String,
    /// Whether the agent can have received the message all the same.
    pub maybe_received: bool,
    /// Whether the connection ended before any of a reply came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_cut: bool,
    /// How many milliseconds it took; `None` where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// How many milliseconds were waited before the next try; `None` where there was none, or it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<f64>,
    /// Why it does not count, where something else than the agent was wrong when it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<String>,
}

impl FailedAttempt {
    /// A try without times.
    pub fn untimed(error: String, maybe_received: bool) -> FailedAttempt {
        FailedAttempt { error, maybe_received, was_cut: false, took_ms: None, waited_ms: None, excuse: None }
    }
}
