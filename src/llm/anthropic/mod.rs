//! Anthropic's Messages, and whatever speaks them.
//!
//! Invariants: the same question is the same bytes; JSON is asked for by a schema of the output, else by a tool that must
//! be used, else in words; a refusal and a cut answer are errors, never words. Anthropic has no seed: `rngSeed` is left
//! out.

pub mod wire;

use super::{
    ApiError, Client, LlmError, LlmRequest, ModelOptions, ModelSettings, ParsedResponse, ProviderApi, ProviderRequest,
    RequestFeatures,
};
use crate::http::{BaseUrl, HttpClient, HttpFault, HttpReply, Url};

/// Anthropic's own address: what stands before `/v1/messages`.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// Anthropic wants one with every request: <https://docs.anthropic.com/en/api/versioning>
const VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

struct Anthropic {
    base: BaseUrl,
    model: String,
}

/// A model behind Anthropic's Messages. Nothing is sent yet.
///
/// # Errors
/// What is wrong with the address; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let provider = Anthropic { base: settings.base()?, model: settings.model.clone() };
    Ok(Client::new("anthropic", Box::new(provider), settings, http))
}

impl ProviderApi for Anthropic {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let body = wire::MessagesRequest::of(&self.model, request, options, features);
        // Whoever writes the version into the address means the same.
        let path: &[&str] = if self.base.ends_with("v1") { &["messages"] } else { &["v1", "messages"] };
        ProviderRequest {
            url: self.base.join(path.iter().copied()),
            headers: VERSION,
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn parse_response(&self, reply: &HttpReply, wants_json: bool) -> Result<ParsedResponse, HttpFault> {
        let message: wire::MessageReply = reply.object()?;
        Ok(match &message.error {
            Some(error) => ParsedResponse::Error(ApiError::of_value(error)),
            None => ParsedResponse::of(message.words(wants_json), message.usage()),
        })
    }

    fn models(&self) -> Option<Url> {
        let path: &[&str] = if self.base.ends_with("v1") { &["models"] } else { &["v1", "models"] };
        Some(self.base.join(path.iter().copied()))
    }

    fn first_features(&self) -> RequestFeatures {
        RequestFeatures { rng_seed: false, ..RequestFeatures::WHOLE }
    }

    fn always_bounds(&self) -> bool {
        true
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }
}
