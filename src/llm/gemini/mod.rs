//! Google's Gemini API (`generateContent`), and whatever speaks it.
//!
//! Invariants: the same question is the same bytes; the key goes into a header, never into the address; a blocked prompt,
//! a blocked and a cut answer are errors, never words.

pub mod wire;

use super::{
    ApiError, Client, LlmError, LlmRequest, ModelOptions, ModelSettings, ParsedResponse, ProviderApi, ProviderRequest,
    RequestFeatures,
};
use crate::http::{BaseUrl, HttpClient, HttpFault, HttpReply, Url};

/// Google's own address: what stands before `/v1beta/models/…`.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com";

struct Gemini {
    base: BaseUrl,
    /// `gemini-2.5-flash:generateContent`.
    method: String,
}

/// A model behind the Gemini API. Nothing is sent yet.
///
/// # Errors
/// What is wrong with the address; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let model = settings.model.strip_prefix("models/").unwrap_or(&settings.model);
    let provider = Gemini { base: settings.base()?, method: format!("{model}:generateContent") };
    Ok(Client::new("gemini", Box::new(provider), settings, http))
}

impl ProviderApi for Gemini {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let body = wire::GenerateRequest::of(request, options, features);
        // Whoever writes the version into the address means that one.
        let version = if self.base.ends_with("v1beta") || self.base.ends_with("v1") { "" } else { "v1beta" };
        ProviderRequest {
            url: self.base.join([version, "models", &self.method]),
            headers: &[],
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn parse_response(&self, reply: &HttpReply, wants_json: bool) -> Result<ParsedResponse, HttpFault> {
        let generated: wire::GenerateReply = reply.object()?;
        Ok(match &generated.error {
            Some(error) => ParsedResponse::Error(ApiError::of_value(error)),
            None => ParsedResponse::of(generated.words(wants_json), generated.usage()),
        })
    }

    fn models(&self) -> Option<Url> {
        let version = if self.base.ends_with("v1beta") || self.base.ends_with("v1") { "" } else { "v1beta" };
        Some(self.base.join([version, "models"]))
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }
}
