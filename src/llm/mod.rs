//! Our own models, the persona's and the judge's: one folder per provider.
//!
//! In: an [`LlmRequest`]. Out: an [`LlmReply`] with its text and usage, or an [`LlmError`].
//!
//! Invariants: a model is chosen by name and never replaced by another; a reply has its usage and the parameters that
//! the model refused; a key is only sent in the header of requests to its own host.
//!
//! Requests are built here, on the program's one HTTP client, and by no client crate. Of those that know several
//! providers, `genai` leaves out a schema or a seed in silence for some of them, adds up Anthropic's cached tokens, and brings a second TLS stack; a crate for each provider brings a retry and a timeout of its own
//! each. A provider is a [`ProviderApi`], two pure functions; [`client`] does the rest for all.

pub mod anthropic;
mod client;
mod api_error;
mod chat;
mod provider;
mod failure;
mod cosine;
pub mod gemini;
mod features;
mod key_check;
#[cfg(feature = "local-embeddings")]
pub mod local_embeddings;
#[cfg(not(feature = "local-embeddings"))]
#[path = "local_embeddings/absent.rs"]
pub mod local_embeddings;
mod meter;
pub mod openai;
mod repair;
mod reply;
pub mod scripted;
mod settings;
pub mod structured;
pub mod watsonx;

pub use api_error::ApiError;
pub use client::Client;
pub use features::{MaxTokens, RequestFeatures};
pub use meter::{RequestLog, UsageMeter};
pub use provider::{ProviderApi, ProviderRequest};
pub use repair::repair;
pub use reply::{NoText, ReplyBody};
pub use settings::{Effort, ModelOptions, ModelSettings, Origin, check};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::evidence::{Message, ReplySchema, ReplyToken, Role, Usage};
use crate::text::is_blank;

/// A language model, or something that stands in for one.
#[async_trait]
pub trait Llm: Send + Sync {
    /// The model as the job file spells it: `openai/gpt-4.1-mini`, `scripted`.
    fn name(&self) -> &str;

    /// Where it is asked, without credentials; `None` for what is in this process.
    fn address(&self) -> Option<String> {
        None
    }

    /// SHA-256, in hex, of everything that decides about the answer to a request: provider, address, model, and the request with
    /// its parameters as it is sent first. `None` for what is asked anew each time: a person, or what is in this process.
    fn request_digest(&self, _request: &LlmRequest) -> Option<String> {
        None
    }

    /// Asks it once, with the transport's own retries.
    async fn complete(&self, request: &LlmRequest) -> Result<LlmReply, LlmError> {
        self.complete_metered(request, &UsageMeter::default()).await
    }

    /// Whether its API is there and its key is taken, as far as the endpoint tells without a question.
    async fn check_key(&self) -> KeyAnswer {
        KeyAnswer::Taken
    }

    /// Whether the endpoint knows its name, as far as it tells without a question; [`KeyAnswer::Taken`] where that is not known.
    async fn check_name(&self) -> KeyAnswer {
        KeyAnswer::Taken
    }

    /// Asks it once; `meter` measures the usage of each try.
    async fn complete_metered(&self, request: &LlmRequest, meter: &UsageMeter) -> Result<LlmReply, LlmError>;
}

/// Whether a model's endpoint takes the key.
#[derive(Debug)]
pub enum KeyAnswer {
    /// It does, or needs none.
    Taken,
    /// It does not, or no model's API is there, or nothing but failures; and why.
    Refused(LlmError),
    /// The model is not in the endpoint's list, or something answers, but to a body without a question not as models' endpoints do:
    /// what it said.
    Doubtful(String),
    /// Only a request would show it.
    Unknown,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LlmRequest {
    /// The role for which it is asked.
    pub role: LlmRole,
    /// The conversation so far: the fixed part first, so that prompt caches hit.
    pub messages: Vec<Message>,
    /// 0 to 2.
    pub temperature: f64,
    /// The shape of the reply, if it must have one.
    pub schema: Option<ReplySchema>,
    /// Which of several samples it asks for, from 1: each further one has a seed of its own.
    pub sample: u32,
    /// The seed of its conversation, for a model whose job names none.
    pub conversation_seed: Option<u32>,
}

impl LlmRequest {
    /// The seed of the model's choices, where one is sent: at temperature 0 it has none to make.
    pub fn rng_seed(&self, options: &ModelOptions) -> Option<u32> {
        let first = options.rng_seed.or(self.conversation_seed.filter(|_| self.temperature > 0.0));
        match self.sample {
            0 | 1 => first,
            // Providers take a signed number of 32 bits.
            sample => Some(first.unwrap_or(0).wrapping_add(sample - 1) & 0x7fff_ffff),
        }
    }

    /// Whether the job asks for a seed: for the model, or for several samples that differ.
    pub(super) fn seed_is_asked_for(&self, options: &ModelOptions) -> bool {
        options.rng_seed.is_some() || self.sample > 1
    }

    /// Asks again after a reply that was cut off.
    pub fn ask_for_less(&mut self, beginning: &str) {
        self.messages.push(Message::new(Role::Assistant, beginning));
        self.messages.push(Message::new(Role::User, "That was cut off: it is too long. Reply again, much shorter."));
    }

    /// Whether the alternatives of its reply's tokens are wanted.
    pub fn wants_alternatives(&self) -> bool {
        self.schema.as_ref().is_some_and(|schema| schema.wants_alternatives)
    }

    /// The most tokens that its reply takes, without what a model reasons before it; `None` where its shape is free.
    pub fn max_tokens(&self) -> Option<u32> {
        self.schema.as_ref().map(|schema| schema.max_tokens)
    }
}

/// The role of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LlmRole {
    /// It poses as the user.
    Persona,
    /// It reads the persona's messages before they are sent.
    Reviewer,
    /// It scores.
    Judge,
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LlmReply {
    /// Its text; with a schema, the JSON text, cut out of any prose around it.
    pub text: String,
    /// Its usage.
    pub usage: Usage,
    /// Parameters that were left out because the model refuses them, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its tokens with their alternatives, where they were wanted and the model tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<ReplyToken>,
    /// Whether it is a reply from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cached: bool,
}

impl LlmReply {
    /// Whether the model answered at the temperature that it was asked with.
    pub fn was_at_temperature(&self) -> bool {
        !self.notes.iter().any(|note| note == features::TEMPERATURE_REFUSED)
    }
}

/// Why a model gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct LlmError {
    /// The error, in a sentence without secrets, with what to try.
    pub message: String,
    /// Whether the same request can work later.
    pub transient: bool,
    /// The usage of the tries, as far as the endpoint reports it: a reply without text is paid for too.
    pub usage: Box<Usage>,
    /// Its class, where callers react to it.
    pub kind: LlmErrorKind,
}

/// The class of an error of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LlmErrorKind {
    /// eval-job itself could not ask, for want of a file descriptor: the model has not failed.
    NoDescriptor,
    /// The model replied without text.
    Silence,
    /// The reply reached its token limit; the beginning of its text.
    CutOff(String),
    /// Every other request would fail the same way: for the key, the address or the credit.
    OfAll,
    /// The endpoint has no model of this name: every other request would fail the same way.
    Misnamed,
    /// The request was not made: the run's limits leave too little for it.
    OverBudget,
    /// Any other.
    Other,
}

/// What the error about a model of an unknown name asks for. Records hold the error's text alone.
pub const CHECK_NAME: &str = "check the name of the model";

impl LlmErrorKind {
    /// Whether every other request would fail the same way.
    pub fn is_of_all(&self) -> bool {
        matches!(self, LlmErrorKind::OfAll | LlmErrorKind::Misnamed)
    }
}

impl LlmError {
    /// The beginning of a reply that was cut off within its text.
    pub fn cut_off_text(&self) -> Option<&str> {
        match &self.kind {
            LlmErrorKind::CutOff(text) => Some(text).filter(|text| !is_blank(text)).map(String::as_str),
            _ => None,
        }
    }

    /// A request that fails again however often it is made, and that cost nothing.
    pub fn for_good(message: String) -> LlmError {
        LlmError { message, transient: false, usage: Box::default(), kind: LlmErrorKind::Other }
    }

    /// A request that can work later, and that cost nothing.
    pub fn for_now(message: String) -> LlmError {
        LlmError { message, transient: true, usage: Box::default(), kind: LlmErrorKind::Other }
    }
}
