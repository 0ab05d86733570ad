//! The agent and its sessions, whatever the wire.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{Caller, NextStep, Received, TurnInput, Wire};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::{Agent, AgentError, Attempts, Reply, Session, UnfinishedSession};
use crate::clock::Stopwatch;
use crate::evidence::{Message, ObjectContext, UserToolCall};
use crate::http::Opened;

/// An agent that is reached over HTTP.
pub(in crate::agent) struct HttpAgent<W> {
    wire: W,
    caller: Arc<Caller>,
}

impl<W: Wire> HttpAgent<W> {
    /// A client; nothing is sent yet.
    pub(in crate::agent) fn boxed(wire: W, caller: Caller) -> Box<dyn Agent> {
        Box::new(HttpAgent { wire, caller: Arc::new(caller) })
    }
}

#[async_trait]
impl<W: Wire> Agent for HttpAgent<W> {
    async fn prepare_memory(&self) -> Result<(), AgentError> {
        self.wire.prepare_memory(&self.caller).await
    }

    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        self.open_after(&[]).await
    }

    async fn open_after(&self, history: &[Message]) -> Result<Box<dyn Session>, AgentError> {
        let (mut wire, caller) = (self.wire.clone(), Arc::clone(&self.caller));
        if !history.is_empty() && !wire.take_history(history) {
            return Err(AgentError::no_history());
        }
        let input = TurnInput { session_id: wire.open(&caller).await?, ..TurnInput::default() };
        Ok(Box::new(HttpSession { wire, caller, input }))
    }

    async fn reopen(&self, left: &UnfinishedSession) -> Result<Box<dyn Session>, AgentError> {
        let (mut wire, caller) = (self.wire.clone(), Arc::clone(&self.caller));
        wire.reopen(&caller, left).await?;
        let input = TurnInput { session_id: left.id.clone(), turn: left.turns, ..TurnInput::default() };
        Ok(Box::new(HttpSession { wire, caller, input }))
    }
}

/// One conversation with an [`HttpAgent`].
struct HttpSession<W> {
    wire: W,
    caller: Arc<Caller>,
    input: TurnInput,
}

#[async_trait]
impl<W: Wire> Session for HttpSession<W> {
    fn id(&self) -> &str {
        &self.input.session_id
    }

    fn is_agent_confirmed(&self) -> bool {
        self.wire.is_agent_confirmed()
    }

    fn forgets_unanswered(&self) -> bool {
        self.wire.forgets_unanswered()
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.input.turn += 1;
        message.clone_into(&mut self.input.message);
        self.wire.begin(&self.input);
        match self.turn(attempts).await {
            Err(error) => Err(self.wire.diagnose(&self.caller, error).await),
            reply => reply,
        }
    }

    fn resume_point(&self) -> Option<Value> {
        self.wire.resume_point()
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        self.wire.state(&self.caller, &self.input).await
    }

    async fn call_user_tool(&mut self, call: &UserToolCall) -> Result<Value, AgentError> {
        self.wire.call_user_tool(&self.caller, &self.input, call).await
    }
}

/// The polling for a reply to a message that was sent.
#[derive(Clone, Copy)]
struct Polling {
    /// Milliseconds from the message to the first poll.
    before_ms: f64,
    since: Stopwatch,
}

impl Polling {
    fn turn_ms(self) -> f64 {
        self.before_ms + self.since.elapsed_ms()
    }
}

impl<W: Wire> HttpSession<W> {
    async fn turn(&mut self, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let clock = self.caller.context.clock;
        let mut polling: Option<Polling> = None;
        let recorded = attempts.failures.len();
        loop {
            let (next, last_ms) = match polling {
                None => self.exchange(attempts, None).await?,
                Some(_) => {
                    let polled = self.exchange(&mut Attempts::default(), polling).await;
                    polled.inspect_err(|error| {
                        // Where the reply broke off, the attempt is recorded already.
                        if attempts.failures[recorded..].is_empty() {
                            attempts.failed(error, true, None);
                        }
                    })?
                }
            };
            match next {
                NextStep::Reply(mut reply) => {
                    reply.latency_ms = polling.map_or(reply.latency_ms, Polling::turn_ms);
                    return Ok(*reply);
                }
                NextStep::Send => {}
                NextStep::Poll(after) => {
                    polling.get_or_insert(Polling { before_ms: last_ms, since: clock.start() });
                    tokio::time::sleep(after).await;
                }
            }
        }
    }

    /// Makes one request of the message, with retries. Returns the next step and the milliseconds to the reply's last byte.
    async fn exchange(
        &mut self,
        attempts: &mut Attempts,
        polling: Option<Polling>,
    ) -> Result<(NextStep, f64), AgentError> {
        let caller = Arc::clone(&self.caller);
        let mut retries = caller.retries(attempts);
        loop {
            let permit = retries.admit().await?;
            let began = caller.context.clock.start();
            let failure = match self.once(polling).await {
                Ok(answered) => {
                    caller.context.limiter.answered(permit);
                    return Ok(answered);
                }
                Err(failure) => failure,
            };
            match failure.retry {
                Retry::Instead { what, poll } => {
                    drop(permit);
                    retries.instead(&failure, what);
                    if let Some(after) = poll {
                        return Ok((NextStep::Poll(after), began.elapsed_ms()));
                    }
                }
                _ => retries.failed(permit, failure).await?,
            }
        }
    }

    /// Makes one attempt, repeated at once without the parts that the agent refuses and that can be left out.
    async fn once(&mut self, polling: Option<Polling>) -> Result<(NextStep, f64), AttemptFailure> {
        loop {
            match self.send(polling).await {
                Err(AttemptFailure { retry: Retry::AtOnce, .. }) => {}
                outcome => return outcome,
            }
        }
    }

    async fn send(&mut self, polling: Option<Polling>) -> Result<(NextStep, f64), AttemptFailure> {
        let request = self.wire.send(&self.input).await?;
        let stream = match self.caller.open(&request).await {
            Ok(Opened::Streaming(stream)) => *stream,
            Ok(Opened::Refused(reply)) => {
                let failure = request.hints.on(AttemptFailure::from_reply(&reply, self.caller.context.clock));
                return Err(self.wire.failed(failure, Some(&reply)));
            }
            Err(failure) => return Err(self.wire.failed(failure, None)),
        };
        let read = match Received::read(stream, request.form, &mut self.wire).await {
            Ok(mut received) => {
                received.turn_ms = polling.map_or(received.turn_ms, Polling::turn_ms);
                let last_ms = received.last_ms;
                self.wire.finish(&self.input, &received).await.map(|next| (next, last_ms))
            }
            Err(failure) => Err(failure),
        };
        read.map_err(|failure| self.wire.failed(failure, None))
    }
}
