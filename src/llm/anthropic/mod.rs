//! Anthropic's Messages, and whatever speaks them.
//!
//! Invariants: the same question is the same bytes; JSON is asked for by a schema of the output, else by a tool that must
//! be used, else in words; a refusal and a cut answer are errors, never words. Anthropic has no seed: `rngSeed` is left
//! out.

pub mod wire;

use super::{Client, Complaint, Dialect, LlmError, LlmRequest, Manner, ModelOptions, ModelSettings, Outgoing, Said};
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
    let dialect = Anthropic { base: settings.base()?, model: settings.model.clone() };
    Ok(Client::new("anthropic", Box::new(dialect), settings, http))
}

impl Dialect for Anthropic {
    fn outgoing(&self, request: &LlmRequest, options: &ModelOptions, manner: Manner) -> Outgoing {
        let body = wire::MessagesRequest::of(&self.model, request, options, manner);
        // Whoever writes the version into the address means the same.
        let path: &[&str] = if self.base.ends_with("v1") { &["messages"] } else { &["v1", "messages"] };
        Outgoing {
            url: self.base.join(path.iter().copied()),
            headers: VERSION,
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn said(&self, reply: &HttpReply, wants_json: bool) -> Result<Said, HttpFault> {
        let message: wire::MessageReply = reply.object()?;
        Ok(match &message.error {
            Some(error) => Said::Error(Complaint::of_value(error)),
            None => Said::of(message.words(wants_json), message.usage()),
        })
    }

    fn models(&self) -> Option<Url> {
        let path: &[&str] = if self.base.ends_with("v1") { &["models"] } else { &["v1", "models"] };
        Some(self.base.join(path.iter().copied()))
    }

    fn first_manner(&self) -> Manner {
        Manner { rng_seed: false, ..Manner::WHOLE }
    }

    fn always_bounds(&self) -> bool {
        true
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }
}
