//! The calls, with their retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::config::{HttpConfig, StreamConfig};
use super::pick::{Picked, Picks, path, state, text};
use super::template::{Filled, Parts};
use crate::agent::tries::{Failure, fail, own_session_id};
use crate::agent::{Agent, AgentError, AgentErrorKind, Exchange, Reply, Session, Tries};
use crate::clock::Clock;
use crate::evidence::ObjectContext;
use crate::http::{
    BODY_CAP, Call, Header, HttpClient, HttpFault, HttpReply, HttpStream, Opened, STREAM_CAP, SseReader,
};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// What the client has to know. It has no `Debug`: a header can hold a key.
#[derive(Clone)]
pub struct HttpAgentSettings {
    /// What the job says.
    pub config: HttpConfig,
    /// Where the agent that eval-job started listens.
    pub base_url: Option<String>,
    /// The user.
    pub user: String,
    /// The chatbot.
    pub chatbot: String,
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

/// An agent with a REST interface of its own.
#[derive(Clone)]
pub struct HttpAgent {
    caller: Arc<Caller>,
}

struct Caller {
    settings: HttpAgentSettings,
    picks: Picks,
    session_path: Option<JsonPath>,
    http: HttpClient,
    sessions: AtomicU64,
    calls: AtomicU64,
}

/// Everything in the configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &HttpConfig) -> Vec<String> {
    let mut problems: Vec<String> = Picks::of(&config.say).err().into_iter().collect();
    let mut part = |key: &str, parts: Parts<'_>| {
        problems.extend(parts.problem().map(|problem| format!("target.http.{key}.{problem}")));
    };
    part("say", say(config));
    if let Some(open) = &config.open {
        part("open", Parts { method: open.method, url: &open.url, headers: &open.headers, body: &open.body });
        problems.extend(path("target.http.open.sessionId", &open.session_id).err());
    }
    if let Some(state) = &config.state {
        let parts = Parts { method: state.method, url: &state.url, headers: &state.headers, body: &state.body };
        problems.extend(parts.problem().map(|problem| format!("target.http.state.{problem}")));
    }
    problems
}

fn say(config: &HttpConfig) -> Parts<'_> {
    let say = &config.say;
    Parts { method: say.method, url: &say.url, headers: &say.headers, body: &say.body }
}

impl HttpAgent {
    /// A client; nothing is sent yet. The error says which path is none; [`check`] finds the same.
    pub fn new(settings: HttpAgentSettings, http: HttpClient) -> Result<HttpAgent, AgentError> {
        let unusable = |message| AgentError { kind: AgentErrorKind::Unreachable, message };
        let picks = Picks::of(&settings.config.say).map_err(unusable)?;
        let open = settings.config.open.as_ref();
        let session_path = open.map(|open| path("target.http.open.sessionId", &open.session_id));
        let session_path = session_path.transpose().map_err(unusable)?;
        let (sessions, calls) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(HttpAgent { caller: Arc::new(Caller { settings, picks, session_path, http, sessions, calls }) })
    }
}

#[async_trait]
impl Agent for HttpAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let caller = Arc::clone(&self.caller);
        let settings = &caller.settings;
        let nth = caller.sessions.fetch_add(1, Ordering::Relaxed);
        let mut id = own_session_id(settings.rng_seed, nth);
        if let (Some(open), Some(session_path)) = (&settings.config.open, &caller.session_path) {
            let parts = Parts { method: open.method, url: &open.url, headers: &open.headers, body: &open.body };
            let values = caller.values(("", "", 0), &[]);
            let reply = caller.document("open", parts, &values).await?;
            id = session_path.query(&reply).all().first().map(|node| text(node)).unwrap_or_default();
            if id.is_empty() {
                let message =
                    "target.http.open.sessionId: nothing, or no text, is there in the agent's reply".to_owned();
                return Err(AgentError { kind: AgentErrorKind::BadReply, message });
            }
        }
        Ok(Box::new(HttpSession { caller, id, history: Vec::new(), turn: 0, tries: Tries::default() }))
    }
}

struct HttpSession {
    caller: Arc<Caller>,
    id: String,
    /// What was said before, as `{role, content}`.
    history: Vec<Value>,
    turn: u32,
    tries: Tries,
}

#[async_trait]
impl Session for HttpSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        self.caller.session_path.is_some()
    }

    async fn say(&mut self, message: &str) -> Exchange {
        self.tries = Tries::default();
        self.turn += 1;
        let caller = &self.caller;
        let values = caller.values((&self.id, message, self.turn), &self.history);
        let reply = caller.talk(&values, &mut self.tries).await;
        if let Ok(reply) = &reply {
            self.history.push(json!({"role": "user", "content": message}));
            self.history.push(json!({"role": "assistant", "content": reply.text}));
        }
        Exchange { reply, tries: std::mem::take(&mut self.tries) }
    }

    fn given_up(&mut self) -> Tries {
        std::mem::take(&mut self.tries)
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let caller = &self.caller;
        let Some(config) = &caller.settings.config.state else {
            let message = "the job does not say where the agent shows its state (target.http.state)".to_owned();
            return Err(AgentError { kind: AgentErrorKind::NotFound, message });
        };
        let parts = Parts { method: config.method, url: &config.url, headers: &config.headers, body: &config.body };
        let values = caller.values((&self.id, "", self.turn), &self.history);
        caller.document("state", parts, &values).await.map(state)
    }
}

impl Caller {
    fn values(&self, (session_id, message, turn): (&str, &str, u32), history: &[Value]) -> Value {
        let settings = &self.settings;
        let mut values = json!({
            "user": settings.user, "chatbot": settings.chatbot, "model": settings.model, "sessionId": session_id,
            "message": message, "turn": turn, "history": history,
        });
        if let Some(base_url) = &settings.base_url {
            values["baseUrl"] = base_url.as_str().into();
        }
        values
    }

    async fn talk(&self, values: &Value, tries: &mut Tries) -> Result<Reply, AgentError> {
        let nth = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays =
            self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth)).timed_by(self.settings.clock);
        loop {
            let stream = match self.send("say", say(&self.settings.config), values).await {
                Ok(stream) => self.read(stream).await,
                Err(failure) => Err(failure),
            };
            match stream {
                Ok(reply) => return Ok(reply),
                Err(failure) => fail(failure.with_hint(hint), &mut delays, tries).await?,
            }
        }
    }

    /// A request whose reply is one JSON document.
    async fn document(&self, key: &str, parts: Parts<'_>, values: &Value) -> Result<Value, AgentError> {
        let nth = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays =
            self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth)).timed_by(self.settings.clock);
        let mut tries = Tries::default();
        loop {
            let outcome = match self.send(key, parts, values).await {
                Ok(stream) => {
                    stream.whole(BODY_CAP).await.and_then(|(reply, _)| json_of(&reply)).map_err(Failure::of_fault)
                }
                Err(failure) => Err(failure),
            };
            match outcome {
                Ok(document) => return Ok(document),
                Err(failure) => fail(failure.with_hint(hint), &mut delays, &mut tries).await?,
            }
        }
    }

    async fn send(&self, key: &str, parts: Parts<'_>, values: &Value) -> Result<HttpStream, Failure> {
        let settings = &self.settings;
        let Filled { method, url, headers, body } = parts.fill(values).map_err(|problem| {
            let kind = crate::http::HttpFaultKind::Unsendable;
            Failure::of_fault(HttpFault { kind, message: format!("target.http.{key}.{problem}") })
        })?;
        let call = Call { method, url, key: None, body, time_limit: settings.turn_limit, body_cap: STREAM_CAP };
        let headers: Vec<Header> =
            headers.into_iter().map(|(name, value)| Header { name, value: Secret::new(value) }).collect();
        match self.http.open(call, &headers, settings.clock).await.map_err(Failure::of_fault)? {
            Opened::Refused(reply) => Err(Failure::of_status(&reply, settings.clock)),
            Opened::Streaming(stream) => Ok(*stream),
        }
    }

    async fn read(&self, stream: HttpStream) -> Result<Reply, Failure> {
        let place = stream.head.clone();
        let (picked, first_token_ms, latency_ms) = match self.settings.config.say.stream {
            StreamConfig::Json => {
                let (reply, latency_ms) = stream.whole(BODY_CAP).await.map_err(Failure::of_fault)?;
                let mut picked = Picked::default();
                self.picks.take(&json_of(&reply).map_err(Failure::of_fault)?, &mut picked);
                if picked.text.trim().is_empty() {
                    let what = "target.http.say.reply picks no words out of the agent's reply";
                    return Err(Failure::of_fault(reply.unreadable(what)));
                }
                (picked, None, latency_ms)
            }
            kind => self.streamed(stream, kind).await.map_err(Failure::of_fault)?,
        };
        if picked.text.trim().is_empty() {
            return Err(Failure::of_fault(
                place.amiss("target.http.say.reply picks no words out of the agent's stream"),
            ));
        }
        let Picked { text, events, usage } = picked;
        Ok(Reply { text, events, latency_ms, first_token_ms, usage })
    }

    async fn streamed(
        &self,
        mut stream: HttpStream,
        kind: StreamConfig,
    ) -> Result<(Picked, Option<f64>, f64), HttpFault> {
        if stream.head.is_page() {
            let (reply, _) = stream.whole(BODY_CAP).await?;
            return Err(reply.unreadable("answered a web page instead of a stream"));
        }
        let (mut picked, mut first_ms, mut pieces) = (Picked::default(), None, Pieces::of(kind));
        while let Some(chunk) = stream.chunk().await? {
            let now = stream.elapsed_ms();
            let too_long = || stream.head.amiss("an event of the stream is longer than 64 MiB; reading stopped there");
            for data in pieces.push(&chunk).ok_or_else(too_long)? {
                let has_words = self.picks.take(&event_of(&data, kind, &stream.head)?, &mut picked);
                first_ms = first_ms.or(has_words.then_some(now));
            }
        }
        let last_ms = stream.elapsed_ms();
        if let Some(data) = pieces.finish() {
            let has_words = self.picks.take(&event_of(&data, kind, &stream.head)?, &mut picked);
            first_ms = first_ms.or(has_words.then_some(last_ms));
        }
        Ok((picked, first_ms, last_ms))
    }
}

/// A stream cut into its events.
enum Pieces {
    Sse(SseReader),
    Lines(Vec<u8>),
}

impl Pieces {
    fn of(kind: StreamConfig) -> Pieces {
        if kind == StreamConfig::Sse { Pieces::Sse(SseReader::new(STREAM_CAP)) } else { Pieces::Lines(Vec::new()) }
    }

    /// The events that these bytes complete; `None` when one is too long.
    fn push(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        match self {
            Pieces::Sse(reader) => Some(reader.push(bytes).ok()?.into_iter().map(|event| event.data).collect()),
            Pieces::Lines(line) => {
                let mut events = Vec::new();
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.len() + piece.len() > STREAM_CAP {
                        return None;
                    }
                    line.extend_from_slice(piece);
                    if piece.ends_with(b"\n") {
                        events.push(String::from_utf8_lossy(&std::mem::take(line)).into_owned());
                    }
                }
                Some(events)
            }
        }
    }

    fn finish(self) -> Option<String> {
        match self {
            Pieces::Sse(reader) => reader.finish().map(|event| event.data),
            Pieces::Lines(line) => Some(String::from_utf8_lossy(&line).into_owned()),
        }
    }
}

/// An event's JSON; of server-sent events, text that is none too. What says nothing is null.
fn event_of(data: &str, kind: StreamConfig, head: &HttpReply) -> Result<Value, HttpFault> {
    let data = data.trim_start_matches('\u{feff}');
    if matches!(data.trim(), "" | "[DONE]") {
        return Ok(Value::Null);
    }
    let looks_json = kind == StreamConfig::Ndjson || data.trim_start().starts_with(['{', '[']);
    match serde_json::from_str(data) {
        Ok(value) => Ok(value),
        Err(_) if !looks_json => Ok(data.into()),
        Err(error) => {
            let how = if error.is_eof() { "stops in the middle of its JSON" } else { "is not JSON" };
            Err(head.amiss(&format!("an event of the stream {how}: {}", head.quote(data))))
        }
    }
}

/// A reply that may be any JSON.
fn json_of(reply: &HttpReply) -> Result<Value, HttpFault> {
    match serde_json::from_slice(&reply.body) {
        Ok(value) if !reply.is_page() => Ok(value),
        // It has words for each way in which a body can't be read.
        _ => reply.object(),
    }
}

fn hint(kind: AgentErrorKind) -> &'static str {
    match kind {
        AgentErrorKind::Unauthorized => "; check the keys in target.http, in its headers for example",
        AgentErrorKind::NotFound => "; check the addresses in target.http; or is the session over?",
        _ => "",
    }
}
