//! The conversation, with its rounds of function calls and its retries. The client keeps the history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::OpenAiConfig;
use super::wire::{Completion, Manner, error_of, request};
use crate::agent::attempts::{Again, Failure, own_session_id};
use crate::agent::history::earlier;
use crate::agent::rest::{Caller, Request, endpoint_hint};
use crate::agent::streamed::{Framing, Times, Took, read_events};
use crate::agent::tools::{ROUNDS, Rounds};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, RestSettings, Session};
use crate::evidence::{Message, ObjectContext};
use crate::http::{BODY_CAP, BaseUrl, HttpClient, HttpFault, HttpFaultKind, HttpReply, HttpStream, Method, Opened};

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct OpenAiAgentSettings {
    /// What the job says.
    pub config: OpenAiConfig,
    /// The model.
    pub model: String,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// A bare model as the agent.
#[derive(Clone)]
pub struct OpenAiAgent {
    shared: Arc<Shared>,
}

struct Shared {
    settings: OpenAiAgentSettings,
    base: BaseUrl,
    caller: Caller,
    /// What the endpoint has refused once is not sent again.
    refuses_usage: AtomicBool,
    wants_completion_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
    sessions: AtomicU64,
}

impl OpenAiAgent {
    /// A client; nothing is sent yet. The error says what is wrong with the address; [`super::check`] finds the same.
    pub fn new(settings: OpenAiAgentSettings, http: HttpClient) -> Result<OpenAiAgent, AgentError> {
        let base = BaseUrl::parse(settings.config.base_url()).map_err(|problem| AgentError {
            kind: AgentErrorKind::Unreachable,
            message: format!("target.openai.baseUrl: {problem}"),
        })?;
        let shared = Shared {
            caller: Caller::new(settings.rest.clone(), http, "openai"),
            settings,
            base,
            refuses_usage: AtomicBool::new(false),
            wants_completion_tokens: AtomicBool::new(false),
            refuses_temperature: AtomicBool::new(false),
            sessions: AtomicU64::new(0),
        };
        Ok(OpenAiAgent { shared: Arc::new(shared) })
    }
}

#[async_trait]
impl Agent for OpenAiAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        self.open_after(&[]).await
    }

    async fn open_after(&self, history: &[Message]) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let nth = shared.sessions.fetch_add(1, Ordering::Relaxed);
        let id = own_session_id(shared.settings.rest.rng_seed, nth);
        let history = earlier(history);
        Ok(Box::new(OpenAiSession { shared, id, history }))
    }
}

struct OpenAiSession {
    shared: Arc<Shared>,
    id: String,
    history: Vec<Value>,
}

#[async_trait]
impl Session for OpenAiSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        false
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let before = self.history.len();
        self.history.push(json!({"role": "user", "content": message}));
        let reply = self.rounds(attempts).await;
        if reply.is_err() {
            self.history.truncate(before);
        }
        reply
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(Rounds::no_state())
    }
}

impl OpenAiSession {
    /// Asks until the model has no more calls. Times and tokens are those of all rounds together.
    async fn rounds(&mut self, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let mut rounds = Rounds::new();
        for _ in 0..=ROUNDS {
            let Answer { completion, times } = self.shared.ask(&self.history, attempts).await?;
            let words = if completion.text.trim().is_empty() { &completion.refusal } else { &completion.text };
            rounds.take(words, times, completion.usage);
            rounds.reply.events.extend(completion.events());
            if completion.calls.is_empty() {
                self.history.push(json!({"role": "assistant", "content": words}));
                return Ok(rounds.reply);
            }
            self.history.push(completion.message());
            for call in &completion.calls {
                let content = rounds.call(&self.shared.settings.config.tools, call);
                self.history.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
            }
        }
        Err(Rounds::endless())
    }
}

/// A completion and its times.
struct Answer {
    completion: Completion,
    times: Times,
}

impl Shared {
    async fn ask(&self, history: &[Value], tries: &mut Attempts) -> Result<Answer, AgentError> {
        self.caller.retried(tries, || self.in_any_manner(history)).await
    }

    async fn in_any_manner(&self, history: &[Value]) -> Result<Answer, Failure> {
        loop {
            // The endpoint refused a part that can be left out: three of them, each once.
            if let Some(answer) =
                self.once(history).await.map_err(|failure| failure.with_hint(|kind| endpoint_hint("openai", kind)))?
            {
                return Ok(answer);
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
        let body = Some(request(&settings.config, &settings.model, history, manner));
        let request = Request { body, ..Request::to(Method::POST, self.base.join(["chat", "completions"])) };
        match self.caller.open(&request, &[]).await? {
            Opened::Refused(reply) if matches!(reply.status, 400 | 422) && self.learns(&reply, manner) => Ok(None),
            Opened::Refused(reply) => Err(Failure::of_status(&reply, settings.rest.clock)),
            Opened::Streaming(stream) if stream.head.is_event_stream() => streamed(*stream).await.map(Some),
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
    Ok(Answer { completion: usable(completion, &reply)?, times: Times { first_ms: None, last_ms } })
}

async fn streamed(stream: HttpStream) -> Result<Answer, Failure> {
    let (head, mut completion, mut is_done) = (stream.head.clone(), Completion::default(), false);
    let take = |data: &str, head: &HttpReply| {
        let took = take(&mut completion, data, head)?;
        is_done |= took == Took::End;
        Ok(took)
    };
    let times = read_events(stream, Framing::Sse, take).await.map_err(Failure::of_fault)?;
    let is_open = !is_done && completion.finish_reason.is_none() && completion.error.is_none();
    if is_open && completion.is_other != Some(true) {
        let what = "the stream ended in the middle: neither [DONE] nor a finish_reason had come";
        return Err(Failure::of_fault(head.amiss(what)));
    }
    Ok(Answer { completion: usable(completion, &head)?, times })
}

fn take(completion: &mut Completion, data: &str, head: &HttpReply) -> Result<Took, HttpFault> {
    Ok(match data.trim() {
        "[DONE]" => Took::End,
        "" => Took::Nothing,
        _ if completion.take(&head.event_json(data)?) => Took::Words,
        _ => Took::Nothing,
    })
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
    if completion.is_other == Some(true) {
        let no_completion = reply.amiss("what came is no completion: it holds no choices");
        return Err(Failure::of_fault(HttpFault { kind: HttpFaultKind::Unreadable, ..no_completion }));
    }
    // The first two come again, and are paid for again, however often the same is asked.
    let (what, again) = match completion.finish_reason.as_deref() {
        Some("content_filter") => ("the provider's content filter took the reply away", false),
        Some("length") => ("the reply hit the bound of tokens before its first word; raise maxTokens", false),
        _ => ("the agent's message is empty", true),
    };
    let failure = Failure::of_fault(reply.amiss(what));
    Err(if again { failure } else { Failure { again: Again::Never, ..failure } })
}
