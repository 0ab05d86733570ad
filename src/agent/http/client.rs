//! The calls, with their retries.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::config::{HttpConfig, SayConfig, StateConfig, StreamConfig};
use crate::agent::attempts::{Failure, own_session_id};
use crate::agent::freeform::{Filled, Known, Parts, Picked, Picks, Said, StatePicks, apart, path, text};
use crate::agent::rest::{Caller, Request};
use crate::agent::streamed::{Framing, Times, Took, read_events};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, RestSettings, Session};
use crate::evidence::ObjectContext;
use crate::http::{BODY_CAP, HttpClient, HttpFault, HttpFaultKind, HttpReply, HttpStream, read_json};

/// What the client has to know. It has no `Debug`: a header can hold a key.
#[derive(Clone)]
pub struct HttpAgentSettings {
    /// What the job says.
    pub config: HttpConfig,
    /// What templates may name whatever is said.
    pub known: Known,
    /// What every client has to know. Headers and keys are those of the templates: these here stay empty.
    pub rest: RestSettings,
    /// The parts of the agent's state that assertions look at: `resources`.
    pub looked_at: Vec<&'static str>,
}

/// An agent with a REST interface of its own.
#[derive(Clone)]
pub struct HttpAgent {
    shared: Arc<Shared>,
}

struct Shared {
    settings: HttpAgentSettings,
    picks: Arc<Picks>,
    state: Arc<StatePicks>,
    session_path: Option<JsonPath>,
    caller: Caller,
    sessions: AtomicU64,
}

/// The longest reply that is looked through between two awaits, in bytes.
const QUICK: usize = 64 * 1024;

/// Everything in the configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &HttpConfig) -> Vec<String> {
    let mut problems: Vec<String> = picks(&config.say).err().into_iter().collect();
    for (key, parts) in config.parts() {
        problems.extend(parts.problem().map(|problem| format!("target.http.{key}.{problem}")));
    }
    if !config.tells_message() && problems.is_empty() {
        problems.push(
            "target.http.say: nothing in it says {{ message }} (or {{ history }}), so the agent never hears the user"
                .to_owned(),
        );
    }
    if let Some(open) = &config.open {
        problems.extend(path("target.http.open.sessionId", &open.session_id).err());
    }
    problems.extend(state_picks(config).err());
    problems
}

fn state_picks(config: &HttpConfig) -> Result<StatePicks, String> {
    let Some(state) = &config.state else { return Ok(StatePicks::default()) };
    let StateConfig { context, entities, resources, functions, .. } = state;
    let paths = [("context", context), ("entities", entities), ("resources", resources), ("functions", functions)];
    StatePicks::of("target.http.state", paths.map(|(key, path)| (key, path.as_ref())))
}

fn picks(say: &SayConfig) -> Result<Picks, String> {
    Picks::of("target.http.say", ("reply", Some(&say.reply)), say.events.as_ref(), say.usage.as_ref())
}

impl HttpAgent {
    /// A client; nothing is sent yet. The error says which path is none; [`check`] finds the same.
    pub fn new(settings: HttpAgentSettings, http: HttpClient) -> Result<HttpAgent, AgentError> {
        let unusable = |message| AgentError { kind: AgentErrorKind::Unreachable, message };
        let picks = picks(&settings.config.say).map_err(unusable)?;
        let open = settings.config.open.as_ref();
        let session_path = open.map(|open| path("target.http.open.sessionId", &open.session_id));
        let session_path = session_path.transpose().map_err(unusable)?;
        let caller = Caller::new(settings.rest.clone(), http, "http");
        let state = state_picks(&settings.config).map_err(unusable)?;
        let shared = Shared {
            settings,
            picks: Arc::new(picks),
            state: Arc::new(state),
            session_path,
            caller,
            sessions: AtomicU64::new(0),
        };
        Ok(HttpAgent { shared: Arc::new(shared) })
    }
}

#[async_trait]
impl Agent for HttpAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let settings = &shared.settings;
        let nth = shared.sessions.fetch_add(1, Ordering::Relaxed);
        let mut id = own_session_id(settings.rest.rng_seed, nth);
        if let (Some(open), Some(session_path)) = (&settings.config.open, &shared.session_path) {
            let values = settings.known.values(Said { session_id: "", message: "", turn: 0, history: &[] });
            let reply = shared.document("open", open.parts(), &values).await?;
            id = session_path.query(&reply).all().first().map(|node| text(node)).unwrap_or_default();
            if id.is_empty() {
                let message =
                    "target.http.open.sessionId: nothing, or no text, is there in the agent's reply".to_owned();
                return Err(AgentError { kind: AgentErrorKind::Unreadable, message });
            }
        }
        let is_met = settings.config.opens_where_it_talks();
        Ok(Box::new(HttpSession { shared, id, is_met, found: BTreeSet::new(), history: Vec::new(), turn: 0 }))
    }
}

struct HttpSession {
    shared: Arc<Shared>,
    id: String,
    is_met: bool,
    /// The parts of its state that were found in a reply.
    found: BTreeSet<&'static str>,
    /// What was said before, as `{role, content}`.
    history: Vec<Value>,
    turn: u32,
}

#[async_trait]
impl Session for HttpSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        self.is_met
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.turn += 1;
        let shared = &self.shared;
        let values = self.values(message);
        let reply = shared.caller.retried(attempts, || shared.talk(&values)).await;
        if let Ok(reply) = &reply {
            self.history.push(json!({"role": "user", "content": message}));
            self.history.push(json!({"role": "assistant", "content": reply.text}));
        }
        reply
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let shared = &self.shared;
        let Some(config) = &shared.settings.config.state else {
            let message = "the job does not say where the agent shows its state (target.http.state)".to_owned();
            return Err(AgentError { kind: AgentErrorKind::NotFound, message });
        };
        let values = self.values("");
        let document = shared.document("state", config.parts(), &values).await?;
        let (state, looked_at) = (Arc::clone(&shared.state), shared.settings.looked_at.clone());
        let mut found = self.found.clone();
        let picked = apart(move || {
            let wanting = state.wanting(&document, &looked_at, &mut found);
            (found, wanting.map_or_else(|| Ok(state.object_context(document)), Err))
        });
        let unread = |problem| AgentError {
            kind: AgentErrorKind::NotFound,
            message: format!(
                "target.http.state: what its JSONPaths mean can't be picked out of the agent's reply: {problem}"
            ),
        };
        let (found, context) = picked.await.map_err(unread)?;
        self.found = found;
        context.map_err(|message| AgentError { kind: AgentErrorKind::NotFound, message })
    }
}

impl HttpSession {
    fn values(&self, message: &str) -> Value {
        let said = Said { session_id: &self.id, message, turn: self.turn, history: &self.history };
        self.shared.settings.known.values(said)
    }
}

impl Shared {
    /// One try of a message.
    async fn talk(&self, values: &Value) -> Result<Reply, Failure> {
        let stream = self.send("say", self.settings.config.say.parts(), values).await?;
        self.read(stream).await.map_err(|fault| Failure::of_fault(fault).with_hint(hint))
    }

    /// A request whose reply is one JSON document.
    async fn document(&self, key: &str, parts: Parts<'_>, values: &Value) -> Result<Value, AgentError> {
        let once = || async {
            let whole = self.send(key, parts, values).await?.whole(BODY_CAP).await;
            whole.and_then(|(reply, _)| json_of(&reply)).map_err(|fault| Failure::of_fault(fault).with_hint(hint))
        };
        self.caller.retried(&mut Attempts::default(), once).await
    }

    async fn send(&self, key: &str, parts: Parts<'_>, values: &Value) -> Result<HttpStream, Failure> {
        let Filled { method, url, headers, body } = parts.fill_apart(values).await.map_err(|problem| {
            let message = format!("target.http.{key}.{problem}");
            Failure::of_fault(HttpFault { kind: HttpFaultKind::Unsendable, message })
        })?;
        let request = Request { body, ..Request::to(method, url) };
        self.caller.stream(&request, &headers).await.map_err(|failure| failure.with_hint(hint))
    }

    async fn read(&self, stream: HttpStream) -> Result<Reply, HttpFault> {
        let (place, mut picked) = (stream.head.clone(), Picked::default());
        let times = match self.settings.config.say.stream {
            StreamConfig::Json => {
                let (reply, last_ms) = stream.whole(BODY_CAP).await?;
                let document = json_of(&reply)?;
                if reply.body.len() <= QUICK {
                    self.picks.take(&document, &mut picked);
                } else {
                    let picks = Arc::clone(&self.picks);
                    let taken = apart(move || {
                        let mut picked = Picked::default();
                        picks.take(&document, &mut picked);
                        picked
                    });
                    picked = taken.await.map_err(|problem| {
                        let what = "target.http.say: what its JSONPaths mean can't be picked out of the agent's reply";
                        reply.unreadable(&format!("{what}: {problem}"))
                    })?;
                }
                if picked.text.trim().is_empty() {
                    let what = "target.http.say.reply picks no words out of the agent's reply";
                    return Err(if picked.is_missed == Some(true) {
                        reply.unreadable(what)
                    } else {
                        reply.useless(what)
                    });
                }
                Times { first_ms: None, last_ms }
            }
            StreamConfig::Sse => self.streamed(stream, Framing::Sse, &mut picked).await?,
            StreamConfig::Ndjson => self.streamed(stream, Framing::Lines, &mut picked).await?,
        };
        if picked.text.trim().is_empty() {
            let is_document = self.settings.config.say.stream == StreamConfig::Sse && !place.is_event_stream();
            let is_missed = picked.is_missed.unwrap_or(is_document);
            let kind = if is_missed { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            let what = match is_document {
                true => "what came is no event stream: target.http.say.stream says how the words come",
                false => "target.http.say.reply picks no words out of the agent's stream",
            };
            let fault = place.amiss(what);
            return Err(HttpFault { kind, ..fault });
        }
        let Picked { text, events, usage, .. } = picked;
        Ok(Reply { text, events, latency_ms: times.last_ms, first_token_ms: times.first_ms, usage })
    }

    async fn streamed(&self, stream: HttpStream, framing: Framing, picked: &mut Picked) -> Result<Times, HttpFault> {
        read_events(stream, framing, |data, head| {
            let has_words = self.picks.take(&event_of(data, framing, head)?, picked);
            Ok(if has_words { Took::Words } else { Took::Nothing })
        })
        .await
    }
}

/// An event's JSON; of server-sent events, text that is none too. What says nothing is null.
fn event_of(data: &str, framing: Framing, head: &HttpReply) -> Result<Value, HttpFault> {
    let looks_json = framing == Framing::Lines || data.trim_start().starts_with(['{', '[']);
    match data.trim() {
        "" | "[DONE]" => Ok(Value::Null),
        _ if looks_json => head.event_json(data),
        _ => Ok(read_json(data).unwrap_or_else(|_| data.into())),
    }
}

/// A reply that may be any JSON.
fn json_of(reply: &HttpReply) -> Result<Value, HttpFault> {
    match str::from_utf8(&reply.body).map(read_json) {
        Ok(Ok(value)) if !reply.is_page() => Ok(value),
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
