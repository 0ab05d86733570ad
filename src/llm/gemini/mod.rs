//! Google's Gemini API (`generateContent`), and whatever speaks it.
//!
//! Invariants: the same question is the same bytes; the key goes into a header, never into the address; a blocked prompt,
//! a blocked and a cut answer are errors, never text.

pub mod wire;

use super::{
    Client, LlmError, LlmRequest, ModelOptions, ModelSettings, NoText, ProviderApi, ProviderRequest, ReplyBody,
    RequestFeatures,
};
use crate::evidence::Usage;
use crate::http::{BaseUrl, HttpClient, Url};

/// Google's own address: what stands before `/v1beta/models/…`.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com";

struct Gemini {
    base: BaseUrl,
    is_googles_own: bool,
    /// `gemini-2.5-flash:generateContent`.
    method: String,
}

/// A model behind the Gemini API. Nothing is sent yet.
///
/// # Errors
/// The address is invalid; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let model = settings.model.strip_prefix("models/").unwrap_or(&settings.model);
    let provider = Gemini {
        base: settings.base()?,
        is_googles_own: settings.base_url.starts_with(BASE_URL),
        method: format!("{model}:generateContent"),
    };
    Ok(Client::new("gemini", Box::new(provider), settings, http))
}

impl Gemini {
    /// The version in the path. Whoever writes it into the address means that one.
    fn version(&self) -> &'static str {
        if self.base.ends_with("v1beta") || self.base.ends_with("v1") { "" } else { "v1beta" }
    }
}

impl ProviderApi for Gemini {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let body = wire::GenerateRequest::new(request, options, features);
        ProviderRequest::new(self.base.join([self.version(), "models", &self.method]), &[], &body)
    }

    fn text(&self, body: &ReplyBody) -> Result<String, NoText> {
        wire::text(body)
    }

    fn usage(&self, body: &ReplyBody) -> Usage {
        wire::usage(body)
    }

    fn models(&self) -> Option<Url> {
        Some(self.base.join([self.version(), "models"]))
    }

    fn first_features(&self) -> RequestFeatures {
        RequestFeatures { bounds: !self.is_googles_own, ..RequestFeatures::WHOLE }
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }
}
