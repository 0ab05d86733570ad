//! The agent under test: one folder per transport.
//!
//! In: the settings of a job (`config.rs` of each transport) and the user's messages. Out: [`Reply`]s with events, times and
//! tokens, and the failed [`Attempts`]; errors are [`AgentError`]s.
//!
//! Invariants: an agent's replies are untrusted text that is never interpreted; every failed attempt is recorded for the
//! caller; the latency of a reply is that of the successful attempt alone, from the last byte sent.

pub mod a2a;
mod ability;
pub mod adk;
mod agent_run;
mod attempts;
pub mod command;
mod config;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(not(feature = "demo"))]
#[path = "demo/absent.rs"]
pub mod demo;
pub mod embabel;
pub mod freeform;
mod history;
pub mod http;
mod json;
mod launcher;
pub mod managed;
pub mod openai;
mod output;
mod process_group;
mod program;
mod rest;
pub mod responses;
mod setting_error;
pub mod tools;
mod transport;
pub mod trivial;
mod watchdog;
mod outage;
pub mod trpc;
pub mod watsonx;
pub mod websocket;
mod wire_error;

pub use ability::Ability;
pub use agent_run::AgentRun;
pub use attempts::Attempts;
pub use config::TransportConfig;
pub(crate) use config::transports;
pub use launcher::{is_launcher, launch};
pub use outage::OutageCheck;
pub use process_group::{any_group_is_left, kill_all_groups, stop_watching, watch_over_groups};
pub use program::Missing;
pub use setting_error::SettingError;
pub use transport::{AgentContext, Hosting, Transport};
pub use watchdog::{OnNote, is_watchdog, watch};
pub use wire_error::WireError;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::{Event, Message, ObjectContext, Usage, UserToolCall};

/// A running agent.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Prepares the agent's memory before seeds are delivered; most agents need nothing.
    async fn prepare_memory(&self) -> Result<(), AgentError> {
        Ok(())
    }

    /// Opens a conversation of its own.
    async fn open(&self) -> Result<Box<dyn Session>, AgentError>;

    /// Opens a conversation that continues this history, where the transport can ([`Ability::TakesHistory`]).
    async fn open_after(&self, history: &[Message]) -> Result<Box<dyn Session>, AgentError> {
        if history.is_empty() {
            return self.open().await;
        }
        Err(AgentError::no_history())
    }

    /// Continues a conversation that another process of eval-job opened, where the transport can ([`Ability::Resumes`]).
    async fn reopen(&self, _left: &UnfinishedSession) -> Result<Box<dyn Session>, AgentError> {
        Err(AgentError::not_resumed())
    }
}

/// A conversation that another process of eval-job opened and did not end, as its journal has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnfinishedSession {
    /// The id that the agent gave to it.
    pub id: String,
    /// Its messages so far, after those that it began after.
    pub messages: Vec<Message>,
    /// How many messages of the user were answered.
    pub turns: u32,
    /// What [`Session::resume_point`] gave after each of them; shorter where the transport has none, or an earlier version kept it.
    pub resume_points: Vec<Value>,
}

impl UnfinishedSession {
    /// The resume point of the last answered message; the default before the first.
    ///
    /// # Errors
    /// It was not kept, as by an earlier version.
    fn last_point<T: serde::de::DeserializeOwned + Default>(&self) -> Result<T, AgentError> {
        match self.resume_points.last() {
            Some(point) => T::deserialize(point).map_err(|_| AgentError::not_resumed()),
            None if self.turns == 0 => Ok(T::default()),
            None => Err(AgentError::not_resumed()),
        }
    }
}

/// One conversation with the agent.
#[async_trait]
pub trait Session: Send {
    /// The id that the agent gave to it.
    fn id(&self) -> &str;

    /// Whether opening it has shown that the agent is there. It has not where nothing is sent before the first message.
    fn is_agent_confirmed(&self) -> bool {
        true
    }

    /// Whether it is known that this is the agent: a server that opens a session is; a program that was started and never
    /// printed a line may be any other.
    fn has_agent_output(&self) -> bool {
        true
    }

    /// The agent's opening message; most have none. Asked for once, before the first message.
    async fn greeting(&mut self) -> Result<Option<Reply>, AgentError> {
        Ok(None)
    }

    /// Sends a message and waits for the reply, with retries. Each failed attempt is recorded when it fails, so that it is
    /// known even if the caller gives up.
    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError>;

    /// The part of the last answered turn that another process needs to continue the conversation, beside the session's id and the
    /// messages: ids that came with the reply, say. `None` where those suffice.
    fn resume_point(&self) -> Option<Value> {
        None
    }

    /// Whether a message whose reply was lost is no part of the conversation any more: each request carries all of it, or names the
    /// reply that it follows. Else the agent that keeps the session may have had it.
    fn forgets_unanswered(&self) -> bool {
        false
    }

    /// The message where there is no state to show.
    fn no_state(&self) -> &'static str {
        "the agent has no state to show"
    }

    /// The agent's observable state. An error of kind [`AgentErrorKind::NotFound`] means that the agent has none to show.
    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(AgentError::new(AgentErrorKind::NotFound, self.no_state()))
    }

    /// Calls a tool of the user, where the transport can ([`Ability::OffersUserTools`]), and returns its result. It is called once:
    /// a call that may have been received is not repeated, since it may have changed something.
    async fn call_user_tool(&mut self, _call: &UserToolCall) -> Result<Value, AgentError> {
        Err(AgentError::new(AgentErrorKind::Unsendable, "the user has no tools here"))
    }
}

/// The agent's reply to one message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// The events that it reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Milliseconds of the successful attempt, from the last byte of the message to the last byte of the reply.
    pub latency_ms: f64,
    /// Milliseconds of the successful attempt, from the last byte of the message to the first text; `None` where the transport
    /// does not stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// Its own tokens, where the transport reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Why a request to the agent failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct AgentError {
    /// The kind of failure.
    pub kind: AgentErrorKind,
    /// The failure, in a sentence without secrets: address, status, the start of the body.
    pub message: String,
}

impl AgentError {
    /// An error of this kind.
    pub fn new(kind: AgentErrorKind, message: impl Into<String>) -> AgentError {
        AgentError { kind, message: message.into() }
    }

    fn not_resumed() -> AgentError {
        AgentError::new(AgentErrorKind::BadReply, "its conversations can't be continued by another process")
    }

    fn no_history() -> AgentError {
        AgentError::new(AgentErrorKind::BadReply, "its conversations can't begin with an earlier one")
    }
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentErrorKind {
    /// No connection: refused, name not found, TLS. The message can't have been received.
    Unreachable,
    /// The job's settings can't work, whatever the agent does: a template or a JSONPath that takes too long, an invalid
    /// header.
    Unsendable,
    /// No connection, for want of a file descriptor of our own. The message was not sent.
    NoDescriptor,
    /// No connection, since this machine has no network. The message was not sent.
    NoNetwork,
    /// 401 or 403.
    Unauthorized,
    /// 404.
    NotFound,
    /// 429 or 503: the agent did not take the message.
    Busy,
    /// It refused requests (429) to the end of the limiter's patience, while other conversations of ours were open: that is
    /// not counted as a failure.
    RefusedTogether,
    /// Any other status that is not a success.
    Status(u16),
    /// The connection ended before any of a reply came.
    Cut,
    /// No complete reply within the time limit, or the connection broke within one.
    Timeout,
    /// A reply of another shape than the job describes: another content type, other JSON, a JSONPath that finds nothing, no
    /// end.
    Unreadable,
    /// A reply without content: empty, cut off, or a failure that the agent itself reports.
    BadReply,
    /// A reply that is longer or deeper than what eval-job reads: nobody can tell what it says.
    BeyondLimit,
}

impl AgentErrorKind {
    /// Whether the job's settings may be wrong: the agent answers, and not as the job expects it. That is not a failure of an
    /// agent that has never answered a message.
    pub fn may_be_of_the_job(self) -> bool {
        match self {
            AgentErrorKind::Unauthorized | AgentErrorKind::NotFound | AgentErrorKind::Unreadable => true,
            AgentErrorKind::Status(status) => (300..500).contains(&status),
            AgentErrorKind::Unreachable
            | AgentErrorKind::Unsendable
            | AgentErrorKind::NoDescriptor
            | AgentErrorKind::NoNetwork
            | AgentErrorKind::Busy
            | AgentErrorKind::RefusedTogether
            | AgentErrorKind::Cut
            | AgentErrorKind::Timeout
            | AgentErrorKind::BadReply
            | AgentErrorKind::BeyondLimit => false,
        }
    }
}
