//! OpenAI's chat completions, which many other endpoints speak as well: vLLM, Ollama's `/v1`, LM Studio, LiteLLM,
//! OpenRouter, Azure's and Amazon Bedrock's `/v1`.
//!
//! Invariants: the same question is the same bytes, so that prompt caches hit; what an endpoint can't do is found out
//! once and remembered; a refusal, a cut answer and an error within a success are errors, never text.

mod embeddings;

pub use embeddings::embeddings;

use serde_json::json;

use super::chat::{self, ChatContent, ChatRequest};
use super::{
    Client, LlmError, LlmRequest, MaxTokens, ModelOptions, ModelSettings, NoText, ProviderApi, ProviderRequest,
    ReplyBody, RequestFeatures,
};
use crate::evidence::{ReplyToken, Usage};
use crate::http::{BaseUrl, HttpClient, Url};

/// OpenAI's own address: what stands before `/chat/completions`.
pub const BASE_URL: &str = "https://api.openai.com/v1";

struct OpenAi {
    base: BaseUrl,
    model: String,
    is_openais_own: bool,
}

/// A model behind OpenAI's chat completions, or behind any endpoint that speaks them. Nothing is sent yet.
///
/// # Errors
/// The address is invalid; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let provider = OpenAi {
        base: settings.base()?,
        model: settings.model.clone(),
        is_openais_own: settings.base_url.trim_end_matches('/') == BASE_URL,
    };
    Ok(Client::new("openai", Box::new(provider), settings, http))
}

impl ProviderApi for OpenAi {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let head = json!({"model": self.model});
        let longest = |name| options.max_tokens.filter(|_| features.max_tokens == name);
        let mut body = ChatRequest::new(head, request, options, features, ChatContent::Text);
        body.max_completion_tokens = longest(MaxTokens::Modern);
        body.max_tokens = longest(MaxTokens::Classic);
        ProviderRequest::new(self.base.join(["chat", "completions"]), &[], &body)
    }

    fn text(&self, body: &ReplyBody) -> Result<String, NoText> {
        chat::text(body)
    }

    fn tokens(&self, body: &ReplyBody) -> Vec<ReplyToken> {
        chat::tokens(body)
    }

    fn usage(&self, body: &ReplyBody) -> Usage {
        chat::usage(body)
    }

    fn models(&self) -> Option<Url> {
        Some(self.base.join(["models"]))
    }

    fn first_features(&self) -> RequestFeatures {
        // OpenAI's reasoning models refuse the old name; many others pass over the new one in silence.
        let max_tokens = if self.is_openais_own { MaxTokens::Modern } else { MaxTokens::Classic };
        RequestFeatures { max_tokens, bounds: !self.is_openais_own, ..RequestFeatures::WHOLE }
    }
}
