//! The requests of a conversation with the agent server, and how their replies are read.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::TrpcConfig;
use super::wire::{RunExtras, RunReply, parse_run, run_request};
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, TurnInput, Wire, hints};
use crate::agent::{AgentContext, AgentError, UnfinishedSession, WireError};
use crate::http::{BaseUrl, HttpFault, HttpReply, Method};

const HINTS: Hints = hints!(
    "trpc",
    "apiKey",
    "; check target.trpc.baseUrl and target.trpc.app: is this trpc-agent-go's agent server, made with a runner for that app? \
     The debug server of before December 2025 has `server: debug`"
);

/// A conversation with the agent server.
#[derive(Clone)]
pub(super) struct TrpcWire {
    base: BaseUrl,
    app: String,
    user: String,
    runtime_state: Arc<Map<String, Value>>,
    wants_trace: bool,
    reply: Option<RunReply>,
}

impl TrpcWire {
    pub(super) fn new(base: BaseUrl, config: &TrpcConfig, context: &AgentContext) -> TrpcWire {
        let app = config.app.as_ref().unwrap_or(&context.chatbot).clone();
        let runtime_state = Arc::new(context.state_over(&config.runtime_state));
        let (user, wants_trace) = (context.user.clone(), config.execution_trace);
        TrpcWire { base, app, user, runtime_state, wants_trace, reply: None }
    }
}

impl Wire for TrpcWire {
    const NO_STATE: &'static str = "trpc-agent-go's servers have no way to show an agent's state";

    /// The agent keeps the conversation, by its id.
    async fn reopen(&mut self, _: &Caller, _: &UnfinishedSession) -> Result<(), AgentError> {
        Ok(())
    }

    /// The server opens a session for any id that it has not seen: ours depends on the time too, so that a run with the same
    /// `--rng-seed` does not continue an earlier one's session.
    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        Ok(caller.unique_session_id())
    }

    fn is_agent_confirmed(&self) -> bool {
        false
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        let url = self.base.join(["trpc-agent", "v1", "apps", &self.app, "runs"]);
        let beside = RunExtras { runtime_state: &self.runtime_state, wants_trace: self.wants_trace };
        let body = run_request(&self.user, &input.session_id, &input.message, beside);
        Ok(AgentRequest::to(Method::POST, url, HINTS).with_body(&body))
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        let run: RunReply = reply.object()?;
        if !run.is_run() {
            return Err(
                reply.misshapen("what came is no run: it has neither events nor messages, and no end that a run has")
            );
        }
        self.reply = Some(run);
        Ok(Value::Null)
    }

    fn feed(&mut self, _: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        Ok(EventOutcome::Nothing)
    }

    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        let empty = || WireError::Failed("the reply is empty".to_owned());
        let run = self.reply.take().ok_or_else(empty).and_then(|reply| parse_run(&reply));
        received.run_reply(run.map_err(|error| received.reported(&error.to_string()))?)
    }
}
