//! The interface of transports over HTTP: their requests, and how their replies are read.

use std::time::Duration;

use serde_json::Value;

use super::{AgentRequest, Caller, EventOutcome, Received};
use crate::agent::attempts::AttemptFailure;
use crate::agent::{AgentError, AgentErrorKind, Reply, UnfinishedSession};
use crate::evidence::{Message, ObjectContext, UserToolCall};
use crate::http::{HttpFault, HttpReply, SseEvent};

/// The requests and replies of one conversation. It is made once for an agent and cloned for each conversation.
pub(in crate::agent) trait Wire: Clone + Send + Sync + 'static {
    /// The error message where the agent shows no state.
    const NO_STATE: &'static str = "the agent has no state to show";

    /// Takes in an earlier conversation. Returns whether the transport can continue one.
    fn take_history(&mut self, _history: &[Message]) -> bool {
        false
    }

    /// Takes in a conversation that another process opened, where the transport can continue one.
    fn reopen(&mut self, _: &Caller, _: &UnfinishedSession) -> impl Future<Output = Result<(), AgentError>> + Send {
        async { Err(AgentError::not_resumed()) }
    }

    /// The part of the last turn that another process needs to continue the conversation, beside the session's id and the messages.
    fn resume_point(&self) -> Option<Value> {
        None
    }

    /// Prepares the agent's memory before seeds are delivered.
    fn prepare_memory(&self, _caller: &Caller) -> impl Future<Output = Result<(), AgentError>> + Send {
        async { Ok(()) }
    }

    /// Opens the conversation and returns its id.
    fn open(&mut self, caller: &Caller) -> impl Future<Output = Result<String, AgentError>> + Send {
        async { Ok(caller.session_id()) }
    }

    /// Whether opening the conversation has shown that the agent is there.
    fn is_agent_confirmed(&self) -> bool {
        true
    }

    /// See [`crate::agent::Session::forgets_unanswered`].
    fn forgets_unanswered(&self) -> bool {
        false
    }

    /// Begins a turn; the state of an earlier one that failed is dropped.
    fn begin(&mut self, _input: &TurnInput) {}

    /// The next request of the turn. The reply of an earlier attempt is dropped.
    fn send(&mut self, input: &TurnInput) -> impl Future<Output = Result<AgentRequest, AttemptFailure>> + Send;

    /// Reads a reply that is one document, as JSON.
    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        reply.object()
    }

    /// Reads an event of a stream, as JSON.
    fn event(&mut self, event: &SseEvent, head: &HttpReply) -> Result<Value, HttpFault> {
        head.event_json(&event.data)
    }

    /// Reads what the end of a stream has left of an event, as JSON; it may be incomplete.
    fn rest(&mut self, event: &SseEvent, head: &HttpReply) -> Result<Value, HttpFault> {
        self.event(event, head)
    }

    /// Takes in an event, or the document.
    fn feed(&mut self, event: Value, reply: &HttpReply) -> Result<EventOutcome, AttemptFailure>;

    /// Decides on the next step, once a reply was read to its end.
    fn finish(
        &mut self,
        input: &TurnInput,
        received: &Received,
    ) -> impl Future<Output = Result<NextStep, AttemptFailure>> + Send;

    /// Interprets a failed attempt; `refusal` is the reply, where its status was not a success.
    fn failed(&mut self, failure: AttemptFailure, _refusal: Option<&HttpReply>) -> AttemptFailure {
        failure
    }

    /// Adds the result of further checks to the error of a failed message.
    fn diagnose(&self, _caller: &Caller, error: AgentError) -> impl Future<Output = AgentError> + Send {
        async { error }
    }

    /// The agent's observable state.
    fn state(
        &mut self,
        _caller: &Caller,
        _input: &TurnInput,
    ) -> impl Future<Output = Result<ObjectContext, AgentError>> + Send {
        async { Err(AgentError::new(AgentErrorKind::NotFound, Self::NO_STATE)) }
    }

    /// Calls a tool of the user.
    fn call_user_tool(
        &self,
        _caller: &Caller,
        _input: &TurnInput,
        _call: &UserToolCall,
    ) -> impl Future<Output = Result<Value, AgentError>> + Send {
        async { Err(AgentError::new(AgentErrorKind::Unsendable, "the user has no tools here")) }
    }
}

/// The input of one turn.
#[derive(Debug, Clone, Default)]
pub(in crate::agent) struct TurnInput {
    /// The id of the conversation, once it is open.
    pub(in crate::agent) session_id: String,
    /// Counted from 1; 0 before the first.
    pub(in crate::agent) turn: u32,
    /// The user's message.
    pub(in crate::agent) message: String,
}

/// The next step after a request that was answered.
pub(in crate::agent) enum NextStep {
    /// Nothing: this is the reply to the message.
    Reply(Box<Reply>),
    /// Another request of the same message, which can fail like the first.
    Send,
    /// After this long, a request that polls for the reply. Polling changes nothing, so its failures leave no doubt about
    /// the message.
    Poll(Duration),
}

impl NextStep {
    pub(in crate::agent) fn reply(reply: Reply) -> Result<NextStep, AttemptFailure> {
        Ok(NextStep::Reply(Box::new(reply)))
    }
}
