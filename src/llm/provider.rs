//! The interface of a provider: how a request is written and how a reply is read.

use async_trait::async_trait;
use serde::Serialize;

use super::failure::Failure;
use super::{LlmRequest, ModelOptions, NoText, ReplyBody, RequestFeatures};
use crate::evidence::{ReplyToken, Usage};
use crate::http::Url;
use crate::secret::Secret;

/// A provider's API. All but the key is pure: bytes in, bytes out.
#[async_trait]
pub trait ProviderApi: Send + Sync {
    /// The request with these features.
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest;

    /// The text of a successful response.
    fn text(&self, body: &ReplyBody) -> Result<String, NoText>;

    /// The reply's tokens with their alternatives, where the response tells them.
    fn tokens(&self, _body: &ReplyBody) -> Vec<ReplyToken> {
        Vec::new()
    }

    /// The tokens that the response reports.
    fn usage(&self, body: &ReplyBody) -> Usage;

    /// The features of the first request.
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

    /// The token for that header where it is not the key itself. `refused` is a stale one.
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

impl ProviderRequest {
    pub(super) fn new(
        url: Url,
        headers: &'static [(&'static str, &'static str)],
        body: &impl Serialize,
    ) -> ProviderRequest {
        ProviderRequest { url, headers, body: serde_json::to_vec(body).unwrap_or_default() }
    }
}
