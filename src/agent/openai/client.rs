//! The conversation, with its rounds of function calls and its retries. The client keeps the history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::OpenAiConfig;
use super::mock::returned;
use super::wire::{Completion, Manner, error_of, request};
use crate::agent::tries::{Failure, fail, own_session_id};
use crate::agent::{Agent, AgentError, AgentErrorKind, Exchange, Reply, Session, Tries};
use crate::clock::Clock;
use crate::evidence::{Event, ObjectContext, ToolCall};
use crate::http::{
    BODY_CAP, BaseUrl, Call, HttpClient, HttpReply, HttpStream, KeyHeader, Method, Opened, STREAM_CAP, SseReader,
};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// In how many rounds of one turn the model may call functions.
const ROUNDS: usize = 10;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct OpenAiAgentSettings {
    /// What the job says.
    pub config: OpenAiConfig,
    /// The key; without one no header is sent.
    pub api_key: Option<Secret>,
    /// The model.
    pub model: String,
    /// How long one try of one request may take.
    pub turn_limit: Duration,
    /// Draws the jitter between tries, and the ids of conversations.
    pub rng_seed: u64,
    /// Measures latencies and dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a request is tried again.
    pub retry: RetryPolicy,
}

/// A bare model as the agent.
#[derive(Clone)]
pub struct OpenAiAgent {
    caller: Arc<Caller>,
}

struct Caller {
    settings: OpenAiAgentSettings,
    base: BaseUrl,
    http: HttpClient,
    /// What the endpoint has refused once is not sent again.
    refuses_usage: AtomicBool,
    wants_completion_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
    sessions: AtomicU64,
    calls: AtomicU64,
}

impl OpenAiAgent {
    /// A client; nothing is sent yet. The error says what is wrong with the address; [`super::check`] finds the same.
    pub fn new(settings: OpenAiAgentSettings, http: HttpClient) -> Result<OpenAiAgent, AgentError> {
        let base = BaseUrl::parse(settings.config.base_url()).map_err(|problem| AgentError {
            kind: AgentErrorKind::Unreachable,
            message: format!("target.openai.baseUrl: {problem}"),
        })?;
        let caller = Caller {
            settings,
            base,
            http,
            refuses_usage: AtomicBool::new(false),
            wants_completion_tokens: AtomicBool::new(false),
            refuses_temperature: AtomicBool::new(false),
            sessions: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        };
        Ok(OpenAiAgent { caller: Arc::new(caller) })
    }
}

#[async_trait]
impl Agent for OpenAiAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let caller = Arc::clone(&self.caller);
        let nth = caller.sessions.fetch_add(1, Ordering::Relaxed);
        let id = own_session_id(caller.settings.rng_seed, nth);
        Ok(Box::new(OpenAiSession { caller, id, history: Vec::new(), tries: Tries::default() }))
    }
}

struct OpenAiSession {
    caller: Arc<Caller>,
    id: String,
    history: Vec<Value>,
    tries: Tries,
}

#[async_trait]
impl Session for OpenAiSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        false
    }

    async fn say(&mut self, message: &str) -> Exchange {
        self.tries = Tries::default();
        let before = self.history.len();
        self.history.push(json!({"role": "user", "content": message}));
        let reply = self.rounds().await;
        if reply.is_err() {
            self.history.truncate(before);
        }
        Exchange { reply, tries: std::mem::take(&mut self.tries) }
    }

    fn given_up(&mut self) -> Tries {
        std::mem::take(&mut self.tries)
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let message = "a bare model has no state to show".to_owned();
        Err(AgentError { kind: AgentErrorKind::NotFound, message })
    }
}

impl OpenAiSession {
    /// Asks until the model has no more calls. Times and tokens are those of all rounds together.
    async fn rounds(&mut self) -> Result<Reply, AgentError> {
        let mut reply =
            Reply { text: String::new(), events: Vec::new(), latency_ms: 0.0, first_token_ms: None, usage: None };
        for _ in 0..=ROUNDS {
            let Answer { completion, first_ms, last_ms } = self.caller.ask(&self.history, &mut self.tries).await?;
            if let (None, Some(first_ms)) = (reply.first_token_ms, first_ms) {
                reply.first_token_ms = Some(reply.latency_ms + first_ms);
            }
            reply.latency_ms += last_ms;
            reply.usage = match (reply.usage, completion.usage) {
                (Some(one), Some(other)) => Some(one.plus(other)),
                (one, other) => one.or(other),
            };
            let words = if completion.text.trim().is_empty() { &completion.refusal } else { &completion.text };
            if !words.trim().is_empty() {
                if !reply.text.is_empty() {
                    reply.text.push_str("\n\n");
                }
                reply.text.push_str(words);
            }
            if completion.calls.is_empty() {
                self.history.push(json!({"role": "assistant", "content": words}));
                return Ok(reply);
            }
            self.history.push(completion.message());
            for call in &completion.calls {
                let args = call.args();
                let output = returned(&self.caller.settings.config.tools, &call.name, &args);
                let content = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
                self.history.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
                reply.events.push(Event::FunctionCall(ToolCall { function: call.name.clone(), args }));
                reply.events.push(Event::FunctionResponse { output });
            }
        }
        let message = format!("the model called functions in {ROUNDS} rounds of one turn, and then again");
        Err(AgentError { kind: AgentErrorKind::BadReply, message })
    }
}

/// A completion and the milliseconds from the request's last byte to its first words and to its last byte.
struct Answer {
    completion: Completion,
    first_ms: Option<f64>,
    last_ms: f64,
}

impl Caller {
    async fn ask(&self, history: &[Value], tries: &mut Tries) -> Result<Answer, AgentError> {
        let nth = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays =
            self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth)).timed_by(self.settings.clock);
        loop {
            match self.once(history).await {
                Ok(Some(answer)) => return Ok(answer),
                // The endpoint refused a part that can be left out: three of them, each once.
                Ok(None) => {}
                Err(failure) => fail(failure.with_hint(hint), &mut delays, tries).await?,
            }
        }
    }

    /// One try; `None` when the same can be asked in another manner at once.
    async fn once(&self, history: &[Value]) -> Result<Option<Answer>, Failure> {
        let settings = &self.settings;
        let manner = Manner {
            usage: !self.refuses_usage.load(Ordering::Relaxed),
            completion_tokens: self.wants_completion_tokens.load(Ordering::Relaxed),
            temperature: !self.refuses_temperature.load(Ordering::Relaxed),
        };
        let body = request(&settings.config, &settings.model, history, manner).to_string();
        let key = settings.api_key.as_ref().filter(|key| !key.expose().is_empty());
        let call = Call {
            method: Method::POST,
            url: self.base.join(["chat", "completions"]),
            key: key.map(|key| KeyHeader { name: "authorization", before: "Bearer ", key }),
            body: Some(body.into_bytes()),
            time_limit: settings.turn_limit,
            body_cap: STREAM_CAP,
        };
        match self.http.open(call, &[], settings.clock).await.map_err(Failure::of_fault)? {
            Opened::Refused(reply) => {
                if matches!(reply.status, 400 | 422) && self.learns(&reply, manner) {
                    return Ok(None);
                }
                Err(Failure::of_status(&reply, settings.clock))
            }
            Opened::Streaming(stream) if stream.head.is_of_type("text/event-stream") => {
                streamed(*stream).await.map(Some)
            }
            Opened::Streaming(stream) => whole(*stream).await.map(Some),
        }
    }

    /// Whether a refusal names something that was sent and can be left out.
    fn learns(&self, reply: &HttpReply, manner: Manner) -> bool {
        let words = String::from_utf8_lossy(&reply.body);
        let config = &self.settings.config;
        let known = [
            (manner.usage && words.contains("stream_options"), &self.refuses_usage),
            (
                config.max_tokens.is_some() && !manner.completion_tokens && words.contains("max_completion_tokens"),
                &self.wants_completion_tokens,
            ),
            (
                config.temperature.is_some() && manner.temperature && words.contains("temperature"),
                &self.refuses_temperature,
            ),
        ];
        let named = known.into_iter().find(|(named, _)| *named);
        named.is_some_and(|(_, flag)| !flag.swap(true, Ordering::Relaxed))
    }
}

/// An endpoint that does not stream although it was asked to.
async fn whole(stream: HttpStream) -> Result<Answer, Failure> {
    let (reply, last_ms) = stream.whole(BODY_CAP).await.map_err(Failure::of_fault)?;
    let body: Value = reply.object().map_err(Failure::of_fault)?;
    let mut completion = Completion::default();
    completion.take(&body);
    let completion = usable(completion, &reply)?;
    Ok(Answer { completion, first_ms: None, last_ms })
}

async fn streamed(mut stream: HttpStream) -> Result<Answer, Failure> {
    let mut reader = SseReader::new(STREAM_CAP);
    let mut completion = Completion::default();
    let (mut first_ms, mut is_done) = (None, false);
    while let Some(chunk) = stream.chunk().await.map_err(Failure::of_fault)? {
        let now = stream.elapsed_ms();
        let events = reader.push(&chunk).map_err(|_| {
            Failure::of_fault(stream.head.amiss("an event of the stream is longer than 64 MiB; reading stopped there"))
        })?;
        for event in events {
            let has_words = take(&mut completion, &event.data, &mut is_done, &stream.head)?;
            first_ms = first_ms.or(has_words.then_some(now));
        }
        if is_done {
            break;
        }
    }
    let last_ms = stream.elapsed_ms();
    if let Some(rest) = reader.finish().filter(|_| !is_done) {
        let has_words = take(&mut completion, &rest.data, &mut is_done, &stream.head)?;
        first_ms = first_ms.or(has_words.then_some(last_ms));
    }
    if !is_done && completion.finish_reason.is_none() && completion.error.is_none() {
        let what = "the stream ended in the middle: neither [DONE] nor a finish_reason had come";
        return Err(Failure::of_fault(stream.head.amiss(what)));
    }
    let completion = usable(completion, &stream.head)?;
    Ok(Answer { completion, first_ms, last_ms })
}

fn take(completion: &mut Completion, data: &str, is_done: &mut bool, head: &HttpReply) -> Result<bool, Failure> {
    if data.trim() == "[DONE]" {
        *is_done = true;
        return Ok(false);
    }
    if data.trim().is_empty() {
        return Ok(false);
    }
    let piece: Value = serde_json::from_str(data).map_err(|error| {
        let kind = if error.is_eof() { "stops in the middle of its JSON" } else { "is not JSON" };
        Failure::of_fault(head.amiss(&format!("an event of the stream {kind}: {}", head.quote(data))))
    })?;
    Ok(completion.take(&piece))
}

/// What can be used as a reply, or why not.
fn usable(completion: Completion, reply: &HttpReply) -> Result<Completion, Failure> {
    if let Some(error) = &completion.error {
        let (words, status) = error_of(error);
        let message = format!("{}: answered with an error: {}", reply.place, reply.quote(&words));
        return Err(Failure::of_number(status.unwrap_or(500), message, None));
    }
    let has_words = !completion.text.trim().is_empty() || !completion.refusal.trim().is_empty();
    if has_words || !completion.calls.is_empty() {
        return Ok(completion);
    }
    Err(Failure::of_fault(match completion.finish_reason.as_deref() {
        Some("content_filter") => reply.amiss("the provider's content filter took the reply away"),
        Some("length") => reply.amiss("the reply hit the bound of tokens before its first word; raise maxTokens"),
        _ => reply.amiss("the agent's message is empty"),
    }))
}

fn hint(kind: AgentErrorKind) -> &'static str {
    match kind {
        AgentErrorKind::Unreachable => "; target.openai.baseUrl says where the agent is looked for",
        AgentErrorKind::Unauthorized => "; check the agent's API key (target.openai.apiKey or EVAL_JOB_AGENT_API_KEY)",
        AgentErrorKind::NotFound => "; check target.openai.baseUrl, and the model's name (--model)",
        _ => "",
    }
}
