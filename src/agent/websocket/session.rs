//! A conversation over a connection of its own.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::client::{Connector, frame_of, text_of};
use super::wire::{FrameError, PartialReply};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::freeform::PickedReply;
use crate::agent::rest::{EventOutcome, TurnInput};
use crate::agent::{AgentError, Attempts, Reply, Session};
use crate::clock::Stopwatch;
use crate::evidence::Event;
use crate::http::{BODY_CAP, HttpFault, HttpFaultKind, STREAM_CAP, Socket, too_long};
use crate::text::is_blank;

/// One conversation, with a connection of its own.
pub(super) struct WebSocketSession {
    connector: Arc<Connector>,
    input: TurnInput,
    socket: Box<Socket>,
    /// Frames that came before the first message.
    held: VecDeque<String>,
    greeting_is_due: bool,
    /// The failure that ended the conversation.
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
        if !std::mem::take(&mut self.greeting_is_due) {
            return Ok(None);
        }
        let stopwatch = self.connector.context.clock.start();
        let reply = self.within_limit(None, stopwatch).await.map_err(|failure| failure.error)?;
        self.history.push(json!({"role": "assistant", "content": reply.text}));
        Ok(Some(reply))
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let began = self.connector.context.clock.start();
        // A greeting that was not asked for is not taken for a reply.
        self.greeting().await.inspect_err(|error| attempts.failed(error, false, Some(began.elapsed_ms())))?;
        let reply = self.turn(message).await.map_err(|AttemptFailure { error, maybe_received, .. }| {
            attempts.failed(&error, maybe_received, Some(began.elapsed_ms()));
            error
        })?;
        self.history.push(json!({"role": "user", "content": message}));
        self.history.push(json!({"role": "assistant", "content": reply.text}));
        Ok(reply)
    }
}

impl WebSocketSession {
    pub(super) fn new(
        connector: Arc<Connector>,
        session_id: String,
        socket: Box<Socket>,
        held: VecDeque<String>,
    ) -> WebSocketSession {
        let input = TurnInput { session_id, ..TurnInput::default() };
        let greeting_is_due = connector.config.greeting;
        WebSocketSession { connector, input, socket, held, greeting_is_due, is_over: None, history: Vec::new() }
    }

    async fn turn(&mut self, message: &str) -> Result<Reply, AttemptFailure> {
        if let Some(error) = &self.is_over {
            return Err(AttemptFailure { error: error.clone(), maybe_received: false, retry: Retry::Never });
        }
        self.input.turn += 1;
        message.clone_into(&mut self.input.message);
        let connector = &self.connector;
        let values = connector.values.in_turn(&self.input, &self.history);
        let frame = frame_of("say", &connector.config.say, &values).await.map_err(AttemptFailure::from)?;
        let early = self.take_early().await;
        let early = early.map_err(|fault| AttemptFailure { maybe_received: false, ..self.end_with(fault) })?;
        // The agent's time begins before the message is sent: it may be there before we know that it was.
        let stopwatch = self.connector.context.clock.start();
        let mut reply = self.within_limit(Some(frame), stopwatch).await?;
        reply.events.splice(0..0, early);
        Ok(reply)
    }

    /// Takes the frames that came after the end of the reply before, or before the first message: they answer nothing that
    /// is said from now on. Returns them as events.
    ///
    /// # Errors
    /// The connection has ended, or the frames do not.
    async fn take_early(&mut self) -> Result<Vec<Event>, HttpFault> {
        let when = if self.input.turn == 1 { "beforeFirstMessage" } else { "afterReply" };
        let (mut events, mut size) = (Vec::new(), 0);
        loop {
            let frame = match self.held.pop_front() {
                Some(frame) => frame,
                None => match self.socket.arrived().await {
                    None => return Ok(events),
                    Some(frame) => text_of(frame, &self.socket, "before the message was sent")?,
                },
            };
            size += frame.len();
            if size > BODY_CAP {
                let what = too_long("what the agent sent that nobody had asked for", BODY_CAP);
                return Err(self.socket.fault(HttpFaultKind::BeyondLimit, &what));
            }
            events.push(Event::other(json!({ when: frame })));
        }
    }

    /// Ends the conversation: after a failure it is unknown to which reply a frame belongs.
    fn end_with(&mut self, fault: HttpFault) -> AttemptFailure {
        let failure = AttemptFailure::from(fault);
        let AgentError { kind, message } = &failure.error;
        let message = format!("the connection was given up after a failure: {message}");
        self.is_over = Some(AgentError::new(*kind, message));
        failure
    }

    /// Receives one reply. After a failure the conversation is over.
    async fn within_limit(&mut self, frame: Option<String>, stopwatch: Stopwatch) -> Result<Reply, AttemptFailure> {
        let limit = self.connector.context.turn_limit;
        let mut partial = PartialReply::default();
        let reply = tokio::time::timeout(limit, self.exchange(frame, stopwatch, &mut partial)).await;
        let reply = reply.unwrap_or_else(|_| {
            let late = format!("the reply was not complete within {limit:?}");
            Err(match (partial.frames, partial.picked.text.is_empty()) {
                (0, _) => self.socket.fault(HttpFaultKind::Timeout, &late),
                // The path found an empty text: the failure is the agent's.
                (_, true) if partial.picked.is_missed == Some(false) => {
                    self.socket.fault(HttpFaultKind::Timeout, &format!("{late}; what came had empty text"))
                }
                (_, has_no_text) => {
                    let what = match has_no_text {
                        true => "no frame had text where it is looked for (target.websocket.reply.delta, .text)",
                        false => "text came, and nothing that ends it (target.websocket.reply.done)",
                    };
                    self.socket.fault(HttpFaultKind::Unreadable, &format!("{late}; {what}"))
                }
            })
        });
        reply.map_err(|fault| self.end_with(fault))
    }

    async fn exchange(
        &mut self,
        frame: Option<String>,
        stopwatch: Stopwatch,
        partial: &mut PartialReply,
    ) -> Result<Reply, HttpFault> {
        let connector = &self.connector;
        if let Some(frame) = frame
            && let Err(broken) = self.socket.send(frame).await
        {
            // An agent that has closed the connection may have given a reason.
            return Err(connector.next(&mut self.socket, "before the message was sent").await.err().unwrap_or(broken));
        }
        let (mut first_token_ms, mut size) = (None, 0);
        loop {
            let frame = match self.held.pop_front() {
                Some(frame) => frame,
                None if size == 0 => connector.next(&mut self.socket, "before its reply came").await?,
                None => connector.next(&mut self.socket, "in the middle of its reply").await?,
            };
            size += frame.len();
            partial.frames += 1;
            let now = stopwatch.elapsed_ms();
            let took = connector.reader.take(&frame, partial).map_err(|error| {
                let what = format!("a frame {error}: {}", self.socket.quote(&frame));
                let kind = match error {
                    FrameError::CutOff => HttpFaultKind::Useless,
                    FrameError::NotJson => HttpFaultKind::Unreadable,
                    FrameError::TooDeep => HttpFaultKind::BeyondLimit,
                };
                self.socket.fault(kind, &what)
            })?;
            match took {
                EventOutcome::Nothing => {}
                EventOutcome::Text => first_token_ms = first_token_ms.or(Some(now)),
                EventOutcome::End => return self.reply(std::mem::take(partial), first_token_ms, now),
                EventOutcome::LastText => {
                    return self.reply(std::mem::take(partial), first_token_ms.or(Some(now)), now);
                }
            }
            if size > STREAM_CAP {
                return Err(self.socket.fault(HttpFaultKind::BeyondLimit, &too_long("the reply", STREAM_CAP)));
            }
        }
    }

    fn reply(&self, partial: PartialReply, first_token_ms: Option<f64>, latency_ms: f64) -> Result<Reply, HttpFault> {
        if let Some(error) = partial.error {
            let malformed = |what: &str| self.socket.fault(HttpFaultKind::Useless, what);
            return Err(malformed(&format!("answered with an error: {}", self.socket.quote(&error))));
        }
        let PickedReply { text, events, usage, is_missed, .. } = partial.picked;
        if is_blank(&text) {
            let is_missed = is_missed == Some(true);
            let kind = if is_missed { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            return Err(self.socket.fault(kind, "no text came in the agent's reply (target.websocket.reply)"));
        }
        Ok(Reply { text, events, latency_ms, first_token_ms, usage })
    }
}
