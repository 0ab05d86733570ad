//! The request, with its retries and its ways down.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;

use super::OpenAiSettings;
use super::fault::Failure;
use super::settings::parse;
use super::wire::{CompletionReply, CompletionRequest, Manner, WireError};
use crate::http::{BODY_CAP, BaseUrl, Call, HttpClient, HttpReply, KeyHeader, Method};
use crate::llm::structured::Ladder;
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest};

/// A model behind OpenAI's chat completions, or behind any endpoint that speaks them.
pub struct OpenAi {
    settings: OpenAiSettings,
    name: String,
    base: BaseUrl,
    http: HttpClient,
    ladder: Ladder,
    refuses_temperature: AtomicBool,
    /// How many requests there were: each draws its own jitter.
    calls: AtomicU64,
}

/// What a failed try leads to.
enum Next {
    /// The same question in another manner, at once.
    Differently,
    /// What the retries decide.
    Failed(Failure),
}

impl OpenAi {
    /// A client; nothing is sent yet. The error says what is wrong with the address; [`super::check`] finds the same.
    pub fn new(settings: OpenAiSettings, http: HttpClient) -> Result<OpenAi, LlmError> {
        let base = parse(&settings.base_url).map_err(|message| LlmError { message, transient: false })?;
        Ok(OpenAi {
            name: format!("openai/{}", settings.model),
            settings,
            base,
            http,
            ladder: Ladder::default(),
            refuses_temperature: AtomicBool::new(false),
            calls: AtomicU64::new(0),
        })
    }

    fn manner(&self) -> Manner {
        let temperature = !self.refuses_temperature.load(Ordering::Relaxed);
        Manner { structured: self.ladder.strictest(), temperature }
    }

    async fn once(&self, request: &LlmRequest, manner: Manner) -> Result<LlmReply, Next> {
        let settings = &self.settings;
        let body = CompletionRequest::of(&settings.model, request, manner);
        let key = Some(&settings.api_key).filter(|key| !key.expose().is_empty());
        let call = Call {
            method: Method::POST,
            url: self.base.join(["chat", "completions"]),
            key: key.map(|key| KeyHeader { name: "authorization", before: "Bearer ", key }),
            body: serde_json::to_vec(&body).ok(),
            time_limit: settings.time_limit,
            body_cap: BODY_CAP,
        };
        let reply = self.http.exchange(call).await.map_err(|fault| Next::Failed(Failure::of_fault(fault)))?;
        if !reply.is_success() {
            let error = WireError::of_body(&reply.body);
            if matches!(reply.status, 400 | 422) && self.learns(&error, request, manner) {
                return Err(Next::Differently);
            }
            return Err(Next::Failed(Failure::of_status(&reply, &settings.model, settings.clock)));
        }
        self.read(&reply, request).map_err(Next::Failed)
    }

    fn read(&self, reply: &HttpReply, request: &LlmRequest) -> Result<LlmReply, Failure> {
        let completion: CompletionReply = reply.object().map_err(Failure::of_fault)?;
        if let Some(error) = completion.error.as_ref().filter(|error| !error.is_null()) {
            let error = WireError::of_value(error);
            return Err(Failure::in_band(reply, &error, &self.settings.model, self.settings.clock));
        }
        let text = completion.words(request.schema.is_some()).map_err(|why| Failure::of_silence(reply, &why))?;
        Ok(LlmReply { text, usage: completion.usage() })
    }

    /// Whether a refusal names something that was sent and can be left out; it is remembered for all later requests.
    fn learns(&self, error: &WireError, request: &LlmRequest, manner: Manner) -> bool {
        if manner.temperature && error.concerns_temperature() {
            self.refuses_temperature.store(true, Ordering::Relaxed);
            return true;
        }
        request.schema.is_some() && error.concerns_structure() && self.ladder.refuse(manner.structured)
    }
}

#[async_trait]
impl Llm for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmReply, LlmError> {
        let nth_call = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays = self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth_call));
        let mut manner = self.manner();
        loop {
            let Failure { error, again, asked } = match self.once(request, manner).await {
                Ok(reply) => return Ok(reply),
                // Each change takes something away for good, so there are three at most.
                Err(Next::Differently) => {
                    manner = self.manner();
                    continue;
                }
                Err(Next::Failed(failure)) => failure,
            };
            let delay = if again { delays.next(asked) } else { None };
            let Some(delay) = delay else { return Err(error) };
            tokio::time::sleep(delay).await;
        }
    }
}
