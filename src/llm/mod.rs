//! Our own models, the persona's and the judge's: one folder a provider.
//!
//! Invariants: a model is chosen by name and never replaced by another; a reply says what it cost; a key never leaves
//! this room but in the request's header.

pub mod openai;
mod repair;
pub mod scripted;
pub mod structured;

pub use repair::repair;

use async_trait::async_trait;

use crate::evidence::{Message, ReplySchema, Usage};

/// A language model, or something that stands in for one.
#[async_trait]
pub trait Llm: Send + Sync {
    /// The model as the job file spells it: `openai/gpt-4.1-mini`, `scripted`.
    fn name(&self) -> &str;

    /// Asks it once, with the transport's own retries.
    async fn complete(&self, request: &LlmRequest) -> Result<LlmReply, LlmError>;
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmRequest {
    /// Who is asking.
    pub role: LlmRole,
    /// The conversation so far: the fixed part first, so that prompt caches hit.
    pub messages: Vec<Message>,
    /// 0 to 2.
    pub temperature: f64,
    /// The shape of the reply, if it must have one.
    pub schema: Option<ReplySchema>,
}

/// For whom a model works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LlmRole {
    /// It poses as the user.
    Persona,
    /// It scores.
    Judge,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmReply {
    /// Its words; with a schema, the JSON text, cut out of any prose around it.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
}

/// Why a model gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// What went wrong, in a sentence without secrets, with what to try.
    pub message: String,
    /// Whether the same request can work later.
    pub transient: bool,
}
