//! The rounds of a conversation. The client keeps the history, and a message that failed leaves nothing in it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::OpenAiConfig;
use super::wire::{ChatFeatures, Completion, error_of, request};
use crate::agent::attempts::{Again, AttemptFailure};
use crate::agent::history::earlier;
use crate::agent::rest::{Form, Hints, Next, Received, Request, Took, TurnInput, Wire, hints};
use crate::agent::tools::{ROUNDS, Rounds};
use crate::evidence::Message;
use crate::http::{BaseUrl, HttpFault, HttpFaultKind, HttpReply, Method};

const HINTS: Hints = hints!("openai", "apiKey", "; check target.openai.baseUrl, and the model's name (--model)");

/// A conversation by chat completions.
#[derive(Clone)]
pub(super) struct OpenAiWire {
    config: Arc<OpenAiConfig>,
    model: String,
    base: BaseUrl,
    /// What the endpoint has refused once is not sent again, in no conversation.
    features: Arc<Mutex<ChatFeatures>>,
    history: Vec<Value>,
    /// How much of the history is of messages that were answered.
    settled: usize,
    rounds: Rounds,
    completion: Completion,
}

impl OpenAiWire {
    pub(super) fn new(config: &OpenAiConfig, base: BaseUrl, model: String) -> OpenAiWire {
        OpenAiWire {
            config: Arc::new(config.clone()),
            model,
            base,
            features: Arc::default(),
            history: Vec::new(),
            settled: 0,
            rounds: Rounds::default(),
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

    fn is_met(&self) -> bool {
        false
    }

    fn begin(&mut self, input: &TurnInput) {
        self.history.truncate(self.settled);
        self.history.push(json!({"role": "user", "content": input.message}));
        self.rounds = Rounds::default();
    }

    async fn send(&mut self, _: &TurnInput) -> Result<Request, AttemptFailure> {
        self.completion = Completion::default();
        let body = request(&self.config, &self.model, &self.history, self.features());
        let request = Request::to(Method::POST, self.base.join(["chat", "completions"]), Hints::default());
        Ok(request.with_body(&body).in_form(Form::EventsOrDocument, None))
    }

    fn feed(&mut self, event: Value, _: &HttpReply) -> Result<Took, AttemptFailure> {
        Ok(if self.completion.take(&event) { Took::Words } else { Took::Nothing })
    }

    /// Asks until the model has no more calls. Times and tokens are those of all rounds together.
    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<Next, AttemptFailure> {
        received.broken()?;
        let completion = std::mem::take(&mut self.completion);
        let is_open = !received.is_over && completion.finish_reason.is_none() && completion.error.is_none();
        if is_open && completion.is_other != Some(true) {
            let what = "the stream ended in the middle: neither [DONE] nor a finish_reason had come";
            return Err(received.reply.malformed(what).into());
        }
        let completion = usable(completion, &received.reply)?;
        let words = if completion.text.trim().is_empty() { &completion.refusal } else { &completion.text };
        self.rounds.take(words, received, completion.usage);
        self.rounds.reply.events.extend(completion.events());
        if completion.calls.is_empty() {
            self.history.push(json!({"role": "assistant", "content": words}));
            self.settled = self.history.len();
            return self.rounds.finish();
        }
        if self.rounds.count() > ROUNDS {
            return Err(Rounds::endless());
        }
        self.history.push(completion.message());
        for call in &completion.calls {
            let content = self.rounds.call(&self.config.tools, call);
            self.history.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
        }
        Ok(Next::Send)
    }

    /// A part that was refused and can be left out or said otherwise is so at once: three of them, each once.
    fn failed(&mut self, failure: AttemptFailure, refusal: Option<&HttpReply>) -> AttemptFailure {
        if let Some(reply) = refusal.filter(|reply| matches!(reply.status, 400 | 422)) {
            let words = String::from_utf8_lossy(&reply.body);
            let mut features = self.features.lock().unwrap_or_else(PoisonError::into_inner);
            if features.leave_out(&self.config, &words) {
                return AttemptFailure { again: Again::AtOnce, ..failure };
            }
        }
        HINTS.on(failure)
    }
}

/// What can be used as a reply, or why not.
fn usable(completion: Completion, reply: &HttpReply) -> Result<Completion, AttemptFailure> {
    if let Some(error) = &completion.error {
        let (words, status) = error_of(error);
        let message = format!("{}: answered with an error: {}", reply.place, reply.quote(&words));
        return Err(AttemptFailure::of_number(status.unwrap_or(500), message, None));
    }
    let has_words = !completion.text.trim().is_empty() || !completion.refusal.trim().is_empty();
    if has_words || !completion.calls.is_empty() {
        return Ok(completion);
    }
    if completion.is_other == Some(true) {
        let no_completion = reply.malformed("what came is no completion: it holds no choices");
        return Err(HttpFault { kind: HttpFaultKind::Unreadable, ..no_completion }.into());
    }
    // The first two come again, and are paid for again, however often the same is asked.
    let (what, again) = match completion.finish_reason.as_deref() {
        Some("content_filter") => ("the provider's content filter took the reply away", false),
        Some("length") => ("the reply hit the bound of tokens before its first word; raise maxTokens", false),
        _ => ("the agent's message is empty", true),
    };
    let failure = AttemptFailure::from(reply.malformed(what));
    Err(if again { failure } else { AttemptFailure { again: Again::Never, ..failure } })
}
