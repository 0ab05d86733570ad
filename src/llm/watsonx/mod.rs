//! IBM watsonx.ai's text chat. The replies are chat completions; requests, address and key are IBM's own.
//!
//! Invariants: the API key goes to IBM's token service and nowhere else; a token is asked for once for all requests and
//! again when it is about to end or is refused; requests name the project or the space that pays.

mod iam;

use async_trait::async_trait;
use serde_json::json;

use super::chat::{self, ChatContent, ChatRequest};
use super::failure::Failure;
use super::{
    Client, LlmError, LlmRequest, MaxTokens, ModelOptions, ModelSettings, NoText, ProviderApi, ProviderRequest,
    ReplyBody, RequestFeatures,
};
use crate::evidence::{ReplyToken, Usage};
pub use crate::http::IAM_URL;
use crate::http::{BaseUrl, HttpClient};
use crate::secret::Secret;

/// Dallas; other regions have other addresses.
pub const BASE_URL: &str = "https://us-south.ml.cloud.ibm.com";

/// The version of the API that this is written against: IBM wants a date with every request.
const VERSION: &str = "2025-02-06";

/// Without a number watsonx.ai cuts replies at 1,024 tokens.
const LONGEST_REPLY: u32 = 4096;

/// The project or space that a request is billed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payer {
    /// A project's id.
    ProjectId(String),
    /// A deployment space's id.
    SpaceId(String),
}

struct Watsonx {
    base: BaseUrl,
    model: String,
    payer: Payer,
    tokens: iam::AccessTokens,
}

/// A model of watsonx.ai. Nothing is sent yet. `iam_url` is where tokens come from, usually [`IAM_URL`].
///
/// # Errors
/// An address is invalid; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, payer: Payer, iam_url: &str, http: HttpClient) -> Result<Client, LlmError> {
    let tokens = iam::AccessTokens::new(&settings, iam_url, http.clone())?;
    let provider = Watsonx { base: settings.base()?, model: settings.model.clone(), payer, tokens };
    Ok(Client::new("watsonx", Box::new(provider), settings, http))
}

#[async_trait]
impl ProviderApi for Watsonx {
    fn provider_request(
        &self,
        request: &LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ProviderRequest {
        let (billed_to, id) = match &self.payer {
            Payer::ProjectId(id) => ("project_id", id),
            Payer::SpaceId(id) => ("space_id", id),
        };
        let head = json!({"model_id": self.model, billed_to: id});
        let longest = options.max_tokens.unwrap_or(LONGEST_REPLY);
        // The user's messages are parts, those of the others plain text, as in IBM's own examples.
        let mut body = ChatRequest::new(head, request, options, features, ChatContent::part);
        body.max_tokens = (features.max_tokens != MaxTokens::Omitted).then_some(longest);
        let mut url = self.base.join(["ml", "v1", "text", "chat"]);
        url.query_pairs_mut().append_pair("version", VERSION);
        ProviderRequest::new(url, &[], &body)
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

    async fn token(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Failure> {
        self.tokens.current(refused).await.map(Some)
    }
}
