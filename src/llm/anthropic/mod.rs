//! Anthropic's Messages, and whatever speaks them.
//!
//! Invariants: the same question is the same bytes; JSON is asked for by a schema of the output, else by a tool that must
//! be used, else in the prompt; a refusal and a cut answer are errors, never text. Anthropic has no seed: `rngSeed` is left
//! out.

pub mod wire;

use super::{
    Client, LlmError, LlmRequest, ModelOptions, ModelSettings, NoText, ProviderApi, ProviderRequest, ReplyBody,
    RequestFeatures,
};
use crate::evidence::Usage;
use crate::http::{BaseUrl, HttpClient, Url};

/// Anthropic's own address: what stands before `/v1/messages`.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// Anthropic wants one with every request: <https://docs.anthropic.com/en/api/versioning>
const VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

struct Anthropic {
    base: BaseUrl,
    is_anthropics_own: bool,
    model: String,
}

/// A model behind Anthropic's Messages. Nothing is sent yet.
///
/// # Errors
/// The address is invalid; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let provider = Anthropic {
        base: settings.base()?,
        is_anthropics_own: settings.base_url.starts_with(BASE_URL),
        model: settings.model.clone(),
    };
    Ok(Client::new("anthropic", Box::new(provider), settings, http))
}

impl Anthropic {
    fn url(&self, path: &str) -> Url {
        // An address with the version in it means the same.
        self.base.join([if self.base.ends_with("v1") { "" } else { "v1" }, path])
    }
}

impl ProviderApi for Anthropic {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let body = wire::MessagesRequest::new(&self.model, request, options, features);
        ProviderRequest::new(self.url("messages"), VERSION, &body)
    }

    fn text(&self, body: &ReplyBody) -> Result<String, NoText> {
        wire::text(body)
    }

    fn usage(&self, body: &ReplyBody) -> Usage {
        wire::usage(body)
    }

    fn models(&self) -> Option<Url> {
        Some(self.url("models"))
    }

    fn first_features(&self) -> RequestFeatures {
        RequestFeatures { rng_seed: false, bounds: !self.is_anthropics_own, ..RequestFeatures::WHOLE }
    }

    fn always_bounds(&self) -> bool {
        true
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }
}
