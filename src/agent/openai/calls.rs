//! The rounds of a conversation. The client keeps the history; a failed message leaves nothing in it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::OpenAiConfig;
use super::wire::{ChatFeatures, Completion, request};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::history::earlier;
use crate::agent::rest::{
    AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire, hints,
};
use crate::agent::tools::{RequestedCall, ToolRounds, TurnParts, with_mocked};
use crate::agent::{AgentError, UnfinishedSession};
use crate::evidence::Message;
use crate::http::{BaseUrl, HttpReply, Method};

const HINTS: Hints = hints!("openai", "apiKey", "; check target.openai.baseUrl, and the model's name (--model)");

/// A conversation by chat completions.
#[derive(Clone)]
pub(super) struct OpenAiWire {
    config: Arc<OpenAiConfig>,
    /// What is said for others in each turn, and how many turns were answered.
    parts: TurnParts,
    turn: usize,
    model: String,
    base: BaseUrl,
    /// The features that the endpoint has not refused, for all conversations.
    features: Arc<Mutex<ChatFeatures>>,
    history: Vec<Value>,
    /// The length of the history up to the last answered message.
    settled: usize,
    rounds: ToolRounds,
    completion: Completion,
}

impl OpenAiWire {
    pub(super) fn new(config: &OpenAiConfig, base: BaseUrl, model: String, parts: TurnParts) -> OpenAiWire {
        OpenAiWire {
            config: Arc::new(OpenAiConfig { tools: with_mocked(&config.tools, parts.mocks()), ..config.clone() }),
            parts,
            turn: 0,
            model,
            base,
            features: Arc::default(),
            history: Vec::new(),
            settled: 0,
            rounds: ToolRounds::default(),
            completion: Completion::default(),
        }
    }

    fn features(&self) -> ChatFeatures {
        *self.features.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for OpenAiWire {
    const NO_STATE: &'static str = "a bare model has no state to show";

    fn take_history(&mut self, history: &[Message]) -> bool {
        self.history = earlier(history);
        self.settled = self.history.len();
        true
    }

    async fn reopen(&mut self, _: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        self.turn = left.turns as usize;
        self.take_history(&left.messages);
        Ok(())
    }

    fn is_agent_confirmed(&self) -> bool {
        false
    }

    fn forgets_unanswered(&self) -> bool {
        true
    }

    fn begin(&mut self, input: &TurnInput) {
        self.history.truncate(self.settled);
        self.history.extend(earlier(self.parts.before(self.turn)));
        self.history.push(json!({"role": "user", "content": input.message}));
        self.rounds = ToolRounds::default();
    }

    async fn send(&mut self, _: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        self.completion = Completion::default();
        let body = request(&self.config, &self.model, &self.history, self.features());
        let request = AgentRequest::to(Method::POST, self.base.join(["chat", "completions"]), Hints::default());
        Ok(request.with_body(&body).in_form(ReplyForm::EventsOrDocument, None))
    }

    fn feed(&mut self, event: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        Ok(if self.completion.take(&event) { EventOutcome::Text } else { EventOutcome::Nothing })
    }

    /// Answers the model's calls until it makes none.
    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        received.broken()?;
        let completion = std::mem::take(&mut self.completion);
        let (message, text) = (completion.message(), completion.reply_text().to_owned());
        let by = self.parts.answers(self.turn, &self.config.tools);
        let answers = self.rounds.add(completion.into_round(received.is_over), received, by).await?;
        if answers.is_empty() {
            self.turn += 1;
            self.history.push(json!({"role": "assistant", "content": text}));
            self.settled = self.history.len();
            return self.rounds.finish();
        }
        self.history.push(message);
        let answer = |(call, content): (RequestedCall, String)| json!({"role": "tool", "tool_call_id": call.id, "content": content});
        self.history.extend(answers.into_iter().map(answer));
        Ok(NextStep::Send)
    }

    /// A refused feature that can be left out or renamed is, at once: three of them, each once.
    fn failed(&mut self, failure: AttemptFailure, refusal: Option<&HttpReply>) -> AttemptFailure {
        if let Some(reply) = refusal.filter(|reply| matches!(reply.status, 400 | 422)) {
            let refusal = String::from_utf8_lossy(&reply.body);
            let mut features = self.features.lock().unwrap_or_else(PoisonError::into_inner);
            if features.leave_out(&self.config, &refusal) {
                return AttemptFailure { retry: Retry::AtOnce, ..failure };
            }
        }
        HINTS.on(failure)
    }
}
