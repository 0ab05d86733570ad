//! IBM watsonx.ai's text chat. The replies are chat completions; requests, address and key are IBM's own.
//!
//! Invariants: the API key goes to IBM's token service and nowhere else; a token is asked for once for all requests and
//! again when it is about to end or is refused; requests name the project or the space that pays.

mod iam;
pub mod wire;

use async_trait::async_trait;

use super::failure::Failure;
use super::{Client, CompletionReply, LlmError, LlmRequest, ModelOptions, ModelSettings, ProviderApi, RequestFeatures};
use super::{ParsedResponse, ProviderRequest};
pub use crate::http::IAM_URL;
use crate::http::{BaseUrl, HttpClient, HttpFault, HttpReply};
use crate::secret::Secret;
pub use wire::Payer;

/// Dallas; other regions have other addresses.
pub const BASE_URL: &str = "https://us-south.ml.cloud.ibm.com";

/// The version of the API that this is written against: IBM wants a date with every request.
const VERSION: &str = "2025-02-06";

struct Watsonx {
    base: BaseUrl,
    model: String,
    payer: Payer,
    tokens: iam::Tokens,
}

/// A model of watsonx.ai. Nothing is sent yet. `iam_url` is where tokens come from, usually [`IAM_URL`].
///
/// # Errors
/// What is wrong with an address; [`super::check`] finds the same.
pub fn client(settings: ModelSettings, payer: Payer, iam_url: &str, http: HttpClient) -> Result<Client, LlmError> {
    let tokens = iam::Tokens::of(&settings, iam_url, http.clone())?;
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
        let body = wire::ChatRequest::of(&self.model, &self.payer, request, options, features);
        let mut url = self.base.join(["ml", "v1", "text", "chat"]);
        url.query_pairs_mut().append_pair("version", VERSION);
        ProviderRequest { url, headers: &[], body: serde_json::to_vec(&body).unwrap_or_default() }
    }

    fn parse_response(&self, reply: &HttpReply, wants_json: bool) -> Result<ParsedResponse, HttpFault> {
        Ok(reply.object::<CompletionReply>()?.parse_response(wants_json))
    }

    async fn token(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Failure> {
        self.tokens.current(refused).await.map(Some)
    }
}
