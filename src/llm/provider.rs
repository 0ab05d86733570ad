//! What differs from provider to provider: how a question is written and how a reply is read.

use async_trait::async_trait;

use super::failure::Failure;
use super::{ApiError, LlmRequest, ModelOptions, RequestFeatures};
use crate::evidence::Usage;
use crate::http::{HttpFault, HttpReply, Url};
use crate::secret::Secret;

/// A provider's way of speaking. All but the key is pure: bytes in, bytes out.
#[async_trait]
pub trait ProviderApi: Send + Sync {
    /// The request with these features.
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest;

    /// Reads the body of a success. The fault says in which way it can't be read.
    fn parse_response(&self, reply: &HttpReply, wants_json: bool) -> Result<ParsedResponse, HttpFault>;

    /// The manner in which the first request is put.
    fn first_features(&self) -> RequestFeatures {
        RequestFeatures::WHOLE
    }

    /// Whether its requests name the longest reply even where the job names none.
    fn always_bounds(&self) -> bool {
        false
    }

    /// Where its models are listed: a request that is free, and that a wrong key is refused at.
    fn models(&self) -> Option<Url> {
        None
    }

    /// Which field carries the key, and what stands before it there.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// What goes into that field where it is not the key itself. `refused` is one that was not taken: it is stale.
    async fn token(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Failure> {
        let _ = refused;
        Ok(None)
    }
}

/// A request before it has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRequest {
    /// Where it goes.
    pub url: Url,
    /// The provider's own headers.
    pub headers: &'static [(&'static str, &'static str)],
    /// The JSON text. The same question is the same bytes, so that prompt caches hit.
    pub body: Vec<u8>,
}

/// What the body of a success says.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedResponse {
    /// Words, and what they cost.
    Words(String, Usage),
    /// Nothing that could be used, and what it cost.
    Nothing(NoWords, Usage),
    /// An error in a success's clothing.
    Error(ApiError),
}

impl ParsedResponse {
    /// The words, or why there are none.
    pub fn of(words: Result<String, NoWords>, usage: Usage) -> ParsedResponse {
        match words {
            Ok(text) => ParsedResponse::Words(text, usage),
            Err(why) => ParsedResponse::Nothing(why, usage),
        }
    }
}

/// Why a success holds no words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoWords {
    /// The model refuses, in its words; they may be empty.
    Refused(String),
    /// The provider's filter took the words away; its own word for why, if it has one.
    Filtered(String),
    /// The reply hit a token limit.
    Cut,
    /// There is no text.
    Nothing,
    /// There is no reply in it at all.
    NoChoice,
}
