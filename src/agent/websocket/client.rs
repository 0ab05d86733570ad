//! Opens connections, one for each conversation.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::Value;

use super::config::WebSocketConfig;
use super::session::WebSocketSession;
use super::wire::FrameReader;
use crate::agent::attempts::{AttemptFailure, Retries, own_session_id};
use crate::agent::freeform::{TemplateValues, address, fill_all_off_thread, headers_of};
use crate::agent::rest::{Hints, TurnInput};
use crate::agent::{Agent, AgentContext, AgentError, Attempts, Session, SettingError};
use crate::http::{BODY_CAP, Frame, Handshake, HandshakeOutcome, HttpFault, HttpFaultKind, Socket};

const HINTS: Hints = Hints {
    unreachable: "; target.websocket.url says where the agent is looked for",
    unauthorized: "; check the keys in target.websocket.headers",
    not_found: "; check the path in target.websocket.url",
};

/// An agent behind a WebSocket.
#[derive(Clone)]
pub struct WebSocketAgent {
    connector: Arc<Connector>,
}

/// Opens the connections of an agent, and reads their frames.
pub(super) struct Connector {
    pub(super) config: WebSocketConfig,
    pub(super) values: TemplateValues,
    pub(super) context: AgentContext,
    pub(super) reader: FrameReader,
    sessions: AtomicU64,
}

impl WebSocketAgent {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// The first path that can't be used.
    pub(super) fn new(config: WebSocketConfig, context: AgentContext) -> Result<WebSocketAgent, SettingError> {
        let (reader, values) = (FrameReader::new(&config)?, TemplateValues::from(&context));
        let connector = Connector { config, values, context, reader, sessions: AtomicU64::new(0) };
        Ok(WebSocketAgent { connector: Arc::new(connector) })
    }
}

#[async_trait]
impl Agent for WebSocketAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let connector = Arc::clone(&self.connector);
        let nth = connector.sessions.fetch_add(1, Ordering::Relaxed);
        let id = own_session_id(connector.context.rng_seed, nth);
        let OpenedSocket { socket, own_id, held } = connector.open_with_retries(&id, nth).await?;
        Ok(Box::new(WebSocketSession::new(connector, own_id.unwrap_or(id), socket, held)))
    }
}

/// An open connection, before the first message.
struct OpenedSocket {
    socket: Box<Socket>,
    /// The id that the agent gave.
    own_id: Option<String>,
    /// The frames that came before it.
    held: VecDeque<String>,
}

impl Connector {
    async fn open_with_retries(&self, id: &str, nth: u64) -> Result<OpenedSocket, AgentError> {
        Retries::new(&self.context, nth, &mut Attempts::default()).run(|| self.open(id)).await
    }

    /// One attempt to open a conversation: the connection, the first frames, the session's id.
    async fn open(&self, id: &str) -> Result<OpenedSocket, AttemptFailure> {
        let Connector { config, values, context, .. } = self;
        let values = values.in_turn(&TurnInput { session_id: id.to_owned(), ..TurnInput::default() }, &[]);
        let mut socket = self.connect(&values).await?;
        let handshake = async {
            for message in &config.open {
                socket.send(frame_of("open", message, &values).await?).await?;
            }
            let (mut held, mut size) = (VecDeque::new(), 0);
            while self.reader.wants_session_id() {
                let frame = self.next(&mut socket, "before it sent a session id").await?;
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
        let handshake = tokio::time::timeout(context.turn_limit, handshake).await;
        let (own_id, held) = handshake
            .unwrap_or_else(|_| {
                let what = format!("no session id within {:?} (target.websocket.sessionId)", context.turn_limit);
                Err(socket.fault(HttpFaultKind::Timeout, &what))
            })
            .map_err(AttemptFailure::from)?;
        // Where the agent does not speak first, these frames are no part of the conversation.
        let held = if config.greeting { held } else { VecDeque::new() };
        Ok(OpenedSocket { socket, own_id, held })
    }

    async fn connect(&self, values: &Value) -> Result<Box<Socket>, AttemptFailure> {
        let Connector { config, context, .. } = self;
        let unfit = |error: SettingError| AttemptFailure::from(unsendable(error));
        let url = address(&config.url, values, &WebSocketConfig::SCHEMES, WebSocketConfig::EXAMPLE);
        let handshake = Handshake {
            url: url.map_err(unfit)?,
            headers: &headers_of(&config.headers, values).map_err(unfit)?,
            subprotocols: &config.subprotocols,
            time_limit: context.turn_limit,
            cap: BODY_CAP,
        };
        let failure = match context.http.connect(handshake).await {
            Ok(HandshakeOutcome::Open(socket)) => return Ok(socket),
            Ok(HandshakeOutcome::Refused(reply)) if reply.status == 403 => {
                let hint = "; check the path in target.websocket.url, for many servers refuse an unknown one like that, and the \
                            keys in target.websocket.headers";
                let mut failure = AttemptFailure::from_reply(&reply, context.clock);
                failure.error.message.push_str(hint);
                return Err(failure);
            }
            Ok(HandshakeOutcome::Refused(reply)) => AttemptFailure::from_reply(&reply, context.clock),
            Err(fault) => AttemptFailure::from(fault),
        };
        Err(HINTS.on(failure))
    }

    /// The next text; the end of the connection is a fault.
    pub(super) async fn next(&self, socket: &mut Socket, when: &str) -> Result<String, HttpFault> {
        let frame = socket.next().await;
        text_of(frame, socket, when)
    }
}

/// The text of a frame; the end of the connection is a fault.
pub(super) fn text_of(frame: Result<Frame, HttpFault>, socket: &Socket, when: &str) -> Result<String, HttpFault> {
    let frame = frame.map_err(|fault| match fault.kind {
        HttpFaultKind::Broken => HttpFault { message: format!("{} {when}", fault.message), ..fault },
        _ => fault,
    });
    match frame? {
        Frame::Text(text) => Ok(text),
        Frame::Closed(None) => {
            Err(socket.fault(HttpFaultKind::Broken, &format!("the connection ended without a word {when}")))
        }
        Frame::Closed(Some((code, reason))) => {
            // The codes of protocol errors of the other side (RFC 6455, 7.4.1), and those modelled on HTTP's 4xx.
            let is_refusal = matches!(code, 1002 | 1003 | 1007 | 1008 | 4400..=4499);
            let kind = if is_refusal { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            let reason = if reason.is_empty() { String::new() } else { format!(", {}", socket.quote(&reason)) };
            let what = format!("the agent closed the connection {when} (code {code}{reason})");
            Err(socket.fault(kind, &what))
        }
    }
}

/// Fills in a message: a text as it is, anything else as JSON.
pub(super) async fn frame_of(key: &'static str, message: &Value, values: &Value) -> Result<String, HttpFault> {
    let filled = fill_all_off_thread(key, message, values).await.map_err(unsendable)?;
    Ok(filled.as_str().map_or_else(|| filled.to_string(), str::to_owned))
}

fn unsendable(error: SettingError) -> HttpFault {
    HttpFault { kind: HttpFaultKind::Unsendable, message: error.below("target.websocket").to_string() }
}
