//! A conversation with a connection of its own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::config::WebSocketConfig;
use super::wire::{FrameReader, PartialReply};
use crate::agent::attempts::{AttemptFailure, Retries, Retry, own_session_id};
use crate::agent::freeform::{PickedReply, TemplateValues, address, fill_all_off_thread, headers_of};
use crate::agent::rest::{EventOutcome, Hints, TurnInput};
use crate::agent::{Agent, AgentContext, AgentError, Attempts, Reply, Session};
use crate::clock::Stopwatch;
use crate::http::{BODY_CAP, Connected, Frame, Handshake, HttpFault, HttpFaultKind, STREAM_CAP, Socket};
use crate::text::is_blank;

const HINTS: Hints = Hints {
    unreachable: "; target.websocket.url says where the agent is looked for",
    unauthorized: "; check the keys in target.websocket.headers",
    not_found: "; check the path in target.websocket.url",
};

/// An agent behind a WebSocket.
#[derive(Clone)]
pub struct WebSocketAgent {
    shared: Arc<Shared>,
}

struct Shared {
    config: WebSocketConfig,
    values: TemplateValues,
    context: AgentContext,
    reader: FrameReader,
    sessions: AtomicU64,
}

impl WebSocketAgent {
    /// A client; nothing is sent yet. The error says which path is none.
    pub(super) fn new(config: WebSocketConfig, context: AgentContext) -> Result<WebSocketAgent, String> {
        let (reader, values) = (FrameReader::new(&config)?, TemplateValues::from(&context));
        Ok(WebSocketAgent { shared: Arc::new(Shared { config, values, context, reader, sessions: AtomicU64::new(0) }) })
    }
}

#[async_trait]
impl Agent for WebSocketAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let nth = shared.sessions.fetch_add(1, Ordering::Relaxed);
        let id = own_session_id(shared.context.rng_seed, nth);
        let opened = shared.open_with_retries(&id, nth).await?;
        let Opened { socket, own_id, held } = opened;
        let input = TurnInput { session_id: own_id.unwrap_or(id), ..TurnInput::default() };
        Ok(Box::new(WebSocketSession { shared, input, socket, held, is_over: None, history: Vec::new() }))
    }
}

struct Opened {
    socket: Box<Socket>,
    /// The id that the agent gave.
    own_id: Option<String>,
    /// The frames that came while it was waited for.
    held: VecDeque<String>,
}

impl Shared {
    async fn open_with_retries(&self, id: &str, nth: u64) -> Result<Opened, AgentError> {
        Retries::new(&self.context, nth, &mut Attempts::default()).run(|| self.open(id)).await
    }

    /// One attempt to open a conversation: the connection, the first frames, the session's id.
    async fn open(&self, id: &str) -> Result<Opened, AttemptFailure> {
        let Shared { config, values, context, .. } = self;
        let values = values.in_turn(&TurnInput { session_id: id.to_owned(), ..TurnInput::default() }, &[]);
        let mut socket = self.connect(&values).await?;
        let told = async {
            for message in &config.open {
                socket.send(frame_of("open", message, &values).await?).await?;
            }
            let (mut held, mut size) = (VecDeque::new(), 0);
            while self.reader.wants_session_id() {
                let frame = self.next(&mut socket, "before it told a session id").await?;
                let own_id = self.reader.session_id(&frame);
                size += frame.len();
                held.push_back(frame);
                if own_id.is_some() {
                    return Ok((own_id, held));
                }
                if size > BODY_CAP {
                    let what = "target.websocket.sessionId finds nothing in 8 MiB of frames";
                    return Err(socket.fault(HttpFaultKind::Unreadable, what));
                }
            }
            Ok((None, held))
        };
        let told = tokio::time::timeout(context.turn_limit, told).await;
        let (own_id, held) = told
            .unwrap_or_else(|_| {
                let what = format!("no session id within {:?} (target.websocket.sessionId)", context.turn_limit);
                Err(socket.fault(HttpFaultKind::Timeout, &what))
            })
            .map_err(AttemptFailure::from)?;
        // Who does not speak first has said nothing that counts.
        let held = if config.greeting { held } else { VecDeque::new() };
        Ok(Opened { socket, own_id, held })
    }

    async fn connect(&self, values: &Value) -> Result<Box<Socket>, AttemptFailure> {
        let Shared { config, context, .. } = self;
        let unfit = |problem: String| AttemptFailure::from(unsendable(&problem));
        let url = address(&config.url, values, &WebSocketConfig::SCHEMES, WebSocketConfig::EXAMPLE);
        let handshake = Handshake {
            url: url.map_err(|problem| unfit(format!("url: {problem}")))?,
            headers: &headers_of(&config.headers, values).map_err(unfit)?,
            subprotocols: &config.subprotocols,
            time_limit: context.turn_limit,
            cap: BODY_CAP,
        };
        let failure = match context.http.connect(handshake).await {
            Ok(Connected::Open(socket)) => return Ok(socket),
            Ok(Connected::Refused(reply)) if reply.status == 403 => {
                let hint = "; check the path in target.websocket.url, for many servers refuse an unknown one like that, and the \
                            keys in target.websocket.headers";
                let mut failure = AttemptFailure::from_reply(&reply, context.clock);
                failure.error.message.push_str(hint);
                return Err(failure);
            }
            Ok(Connected::Refused(reply)) => AttemptFailure::from_reply(&reply, context.clock),
            Err(fault) => AttemptFailure::from(fault),
        };
        Err(HINTS.on(failure))
    }

    /// The next text; the end of the connection is a fault.
    async fn next(&self, socket: &mut Socket, when: &str) -> Result<String, HttpFault> {
        let told = socket.next().await.map_err(|fault| match fault.kind {
            HttpFaultKind::Broken => HttpFault { message: format!("{} {when}", fault.message), ..fault },
            _ => fault,
        });
        match told? {
            Frame::Text(text) => Ok(text),
            Frame::Closed(None) => {
                Err(socket.fault(HttpFaultKind::Broken, &format!("the connection ended without a word {when}")))
            }
            Frame::Closed(Some((code, reason))) => {
                // The codes for what the other side said wrongly (RFC 6455, 7.4.1), and those made after HTTP's 4xx.
                let is_refusal = matches!(code, 1002 | 1003 | 1007 | 1008 | 4400..=4499);
                let kind = if is_refusal { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
                let reason = if reason.is_empty() { String::new() } else { format!(", {}", socket.quote(&reason)) };
                let what = format!("the agent closed the connection {when} (code {code}{reason})");
                Err(socket.fault(kind, &what))
            }
        }
    }
}

/// A message filled in: a text as it is, anything else as JSON.
async fn frame_of(key: &'static str, message: &Value, values: &Value) -> Result<String, HttpFault> {
    let filled = fill_all_off_thread(key, message, values).await.map_err(|problem| unsendable(&problem))?;
    Ok(filled.as_str().map_or_else(|| filled.to_string(), str::to_owned))
}

fn unsendable(problem: &str) -> HttpFault {
    HttpFault { kind: HttpFaultKind::Unsendable, message: format!("target.websocket.{problem}") }
}

/// One conversation with such an agent.
struct WebSocketSession {
    shared: Arc<Shared>,
    input: TurnInput,
    socket: Box<Socket>,
    /// Frames that came before they were asked for.
    held: VecDeque<String>,
    /// Why the conversation is over, where it is.
    is_over: Option<AgentError>,
    history: Vec<Value>,
}

#[async_trait]
impl Session for WebSocketSession {
    fn id(&self) -> &str {
        &self.input.session_id
    }

    fn no_state(&self) -> &'static str {
        "an agent behind a WebSocket has no state to show"
    }

    async fn greeting(&mut self) -> Result<Option<Reply>, AgentError> {
        if !self.shared.config.greeting {
            return Ok(None);
        }
        let stopwatch = self.shared.context.clock.start();
        let reply = self.within_limit(None, stopwatch).await.map_err(|failure| failure.error)?;
        self.history.push(json!({"role": "assistant", "content": reply.text}));
        Ok(Some(reply))
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let began = self.shared.context.clock.start();
        let reply = self.talk(message).await.map_err(|AttemptFailure { error, maybe_received, .. }| {
            attempts.failed(&error, maybe_received, Some(began.elapsed_ms()));
            error
        })?;
        self.history.push(json!({"role": "user", "content": message}));
        self.history.push(json!({"role": "assistant", "content": reply.text}));
        Ok(reply)
    }
}

impl WebSocketSession {
    async fn talk(&mut self, message: &str) -> Result<Reply, AttemptFailure> {
        if let Some(error) = &self.is_over {
            return Err(AttemptFailure { error: error.clone(), maybe_received: false, retry: Retry::Never });
        }
        self.input.turn += 1;
        message.clone_into(&mut self.input.message);
        let shared = &self.shared;
        let values = shared.values.in_turn(&self.input, &self.history);
        let frame = frame_of("say", &shared.config.say, &values).await.map_err(AttemptFailure::from)?;
        let stopwatch = shared.context.clock.start();
        self.within_limit(Some(frame), stopwatch).await
    }

    /// One reply. After a failure nobody can tell which frames would belong to which reply: the conversation is over.
    async fn within_limit(&mut self, frame: Option<String>, stopwatch: Stopwatch) -> Result<Reply, AttemptFailure> {
        let limit = self.shared.context.turn_limit;
        let mut partial = PartialReply::default();
        let reply = tokio::time::timeout(limit, self.exchange(frame, stopwatch, &mut partial)).await;
        let reply = reply.unwrap_or_else(|_| {
            let late = format!("the reply was not complete within {limit:?}");
            Err(match (partial.frames, partial.picked.text.is_empty()) {
                (0, _) => self.socket.fault(HttpFaultKind::Timeout, &late),
                // The words are where they should be, and there are none: that is the agent's.
                (_, true) if partial.picked.is_missed == Some(false) => {
                    self.socket.fault(HttpFaultKind::Timeout, &format!("{late}; what came had empty words"))
                }
                (_, is_wordless) => {
                    let what = match is_wordless {
                        true => "no frame had words where they are looked for (target.websocket.reply.delta, .text)",
                        false => "words came, and nothing that ends them (target.websocket.reply.done)",
                    };
                    self.socket.fault(HttpFaultKind::Unreadable, &format!("{late}; {what}"))
                }
            })
        });
        reply.map_err(|fault| {
            let failure = AttemptFailure::from(fault);
            let AgentError { kind, message } = &failure.error;
            let message = format!("the connection was given up after a failure: {message}");
            self.is_over = Some(AgentError::new(*kind, message));
            failure
        })
    }

    async fn exchange(
        &mut self,
        frame: Option<String>,
        mut stopwatch: Stopwatch,
        partial: &mut PartialReply,
    ) -> Result<Reply, HttpFault> {
        let shared = &self.shared;
        if let Some(frame) = frame {
            if let Err(broken) = self.socket.send(frame).await {
                // An agent that has gone may have said why.
                return Err(shared.next(&mut self.socket, "before the message was sent").await.err().unwrap_or(broken));
            }
            // From here on the time is the agent's.
            stopwatch = shared.context.clock.start();
        }
        let (mut first_token_ms, mut size) = (None, 0);
        loop {
            let frame = match self.held.pop_front() {
                Some(frame) => frame,
                None if size == 0 => shared.next(&mut self.socket, "before its reply came").await?,
                None => shared.next(&mut self.socket, "in the middle of its reply").await?,
            };
            size += frame.len();
            partial.frames += 1;
            let now = stopwatch.elapsed_ms();
            let took = shared.reader.take(&frame, partial).map_err(|how| {
                let what = format!("a frame {how}: {}", self.socket.quote(&frame));
                let is_cut = how.starts_with("stops");
                let kind = if is_cut { HttpFaultKind::Useless } else { HttpFaultKind::Unreadable };
                self.socket.fault(kind, &what)
            })?;
            match took {
                EventOutcome::Nothing => {}
                EventOutcome::Text => first_token_ms = first_token_ms.or(Some(now)),
                EventOutcome::End => return self.reply(std::mem::take(partial), first_token_ms, now),
            }
            if size > STREAM_CAP {
                let what = "the reply is longer than 64 MiB; reading stopped there";
                return Err(self.socket.fault(HttpFaultKind::Useless, what));
            }
        }
    }

    fn reply(&self, partial: PartialReply, first_token_ms: Option<f64>, latency_ms: f64) -> Result<Reply, HttpFault> {
        if let Some(error) = partial.error {
            let malformed = |what: &str| self.socket.fault(HttpFaultKind::Useless, what);
            return Err(malformed(&format!("answered with an error: {}", self.socket.quote(&error))));
        }
        let PickedReply { text, events, usage, is_missed } = partial.picked;
        if is_blank(&text) {
            let is_missed = is_missed == Some(true);
            let kind = if is_missed { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            return Err(self.socket.fault(kind, "no words came in the agent's reply (target.websocket.reply)"));
        }
        Ok(Reply { text, events, latency_ms, first_token_ms, usage })
    }
}
