//! The rounds of a conversation. The endpoint keeps the conversation; the previous response of the next message is only
//! updated when a message has its reply.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ResponsesConfig;
use super::wire::{Response, ResponseContext, message, request, returned, says_context_is_lost};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::history::earlier;
use crate::agent::rest::{
    AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire, hints,
};
use crate::agent::tools::{ToolRounds, TurnParts, with_mocked};
use crate::agent::{AgentError, AgentErrorKind, UnfinishedSession};
use crate::evidence::Message;
use crate::http::{BaseUrl, HttpReply, Method};

const HINTS: Hints = hints!("responses", "apiKey", "; check target.responses.baseUrl, and the model's name (--model)");

const CONVERSATIONS: Hints =
    Hints { not_found: "; this endpoint has no conversations: leave target.responses.conversation out", ..HINTS };

/// A conversation by the Responses API.
#[derive(Clone)]
pub(super) struct ResponsesWire {
    config: Arc<ResponsesConfig>,
    /// What is said for others in each turn, and how many turns were answered.
    parts: TurnParts,
    turn: usize,
    model: String,
    base: BaseUrl,
    /// The messages of an earlier conversation, which are sent with the first message.
    earlier: Vec<Value>,
    /// The context that the next message continues, and the one that the next round of this message does.
    context: ResponseContext,
    round_context: ResponseContext,
    input: Vec<Value>,
    rounds: ToolRounds,
    response: Response,
}

impl ResponsesWire {
    pub(super) fn new(config: &ResponsesConfig, base: BaseUrl, model: String, parts: TurnParts) -> ResponsesWire {
        ResponsesWire {
            config: Arc::new(ResponsesConfig { tools: with_mocked(&config.tools, parts.mocks()), ..config.clone() }),
            parts,
            turn: 0,
            model,
            base,
            earlier: Vec::new(),
            context: ResponseContext::New,
            round_context: ResponseContext::New,
            input: Vec::new(),
            rounds: ToolRounds::default(),
            response: Response::default(),
        }
    }
}

impl Wire for ResponsesWire {
    const NO_STATE: &'static str = "a bare model has no state to show";

    fn take_history(&mut self, history: &[Message]) -> bool {
        self.earlier = earlier(history);
        true
    }

    /// The endpoint keeps the conversation, by its id or that of its last response. Before the first response it has not seen the
    /// messages of an earlier one.
    async fn reopen(&mut self, _: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        self.turn = left.turns as usize;
        if left.turns == 0 {
            self.earlier = earlier(&left.messages);
        }
        self.context = match self.config.conversation {
            true => ResponseContext::Conversation(left.id.clone()),
            false => left.last_point::<Option<String>>()?.map_or(ResponseContext::New, ResponseContext::Response),
        };
        Ok(())
    }

    fn resume_point(&self) -> Option<Value> {
        match &self.context {
            ResponseContext::Response(id) => Some(id.as_str().into()),
            ResponseContext::New | ResponseContext::Conversation(_) => None,
        }
    }

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        if !self.config.conversation {
            return Ok(caller.session_id());
        }
        let request =
            AgentRequest::to(Method::POST, self.base.join(["conversations"]), CONVERSATIONS).with_body(&json!({}));
        let read = |reply: &HttpReply| {
            let conversation: Value = reply.object()?;
            let id = conversation.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            id.map(str::to_owned).ok_or_else(|| reply.unreadable("the reply holds no conversation id").into())
        };
        let id = caller.call(&request, read).await?;
        self.context = ResponseContext::Conversation(id.clone());
        Ok(id)
    }

    fn is_agent_confirmed(&self) -> bool {
        self.config.conversation
    }

    fn forgets_unanswered(&self) -> bool {
        !self.config.conversation
    }

    fn begin(&mut self, input: &TurnInput) {
        let before = earlier(self.parts.before(self.turn));
        self.input = self.earlier.iter().cloned().chain(before).chain([message(&input.message)]).collect();
        self.round_context = self.context.clone();
        self.rounds = ToolRounds::default();
    }

    async fn send(&mut self, _: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        self.response = Response::default();
        let body = request(&self.config, &self.model, &self.round_context, &self.input);
        let request = AgentRequest::to(Method::POST, self.base.join(["responses"]), Hints::default());
        Ok(request.with_body(&body).in_form(ReplyForm::EventsOrDocument, None))
    }

    fn feed(&mut self, event: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        Ok(self.response.take(&event))
    }

    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        received.broken()?;
        let response = std::mem::take(&mut self.response);
        let id = response.id.clone();
        if let Some(what) = response.strays_from(&self.round_context) {
            return Err(received.reported(&what));
        }
        let by = self.parts.answers(self.turn, &self.config.tools);
        let answers = self.rounds.add(response.into_round(received.is_document), received, by).await?;
        if !matches!(self.round_context, ResponseContext::Conversation(_)) {
            self.round_context = ResponseContext::Response(id);
        }
        if answers.is_empty() {
            self.turn += 1;
            self.context = self.round_context.clone();
            self.earlier.clear();
            return self.rounds.finish();
        }
        self.input = answers.iter().map(|(call, output)| returned(call, output)).collect();
        Ok(NextStep::Send)
    }

    fn failed(&mut self, failure: AttemptFailure, _: Option<&HttpReply>) -> AttemptFailure {
        let AttemptFailure { error, .. } = &failure;
        let is_lost = matches!(error.kind, AgentErrorKind::NotFound | AgentErrorKind::Status(400))
            && says_context_is_lost(&error.message);
        if self.round_context == ResponseContext::New || !is_lost {
            return HINTS.on(failure);
        }
        // The conversation can't be continued.
        let message = format!(
            "the endpoint has forgotten the session in mid-conversation (did it expire, or does the endpoint store no \
             responses?): {}",
            error.message
        );
        let error = AgentError { kind: AgentErrorKind::NotFound, message };
        AttemptFailure { error, maybe_received: false, retry: Retry::Never }
    }
}
