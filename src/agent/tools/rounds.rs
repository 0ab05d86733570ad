//! One turn of a bare model: its rounds put together.

use serde_json::{Value, json};

use super::ToolConfig;
use super::mock::returned;
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{Next, Received};
use crate::agent::{AgentErrorKind, Reply};
use crate::evidence::{Event, EventKind, ToolCall, Usage};
use crate::http::read_json;

/// In how many rounds of one turn the model may call functions.
pub(in crate::agent) const ROUNDS: usize = 10;

/// A call of a function, as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::agent) struct Called {
    pub(in crate::agent) id: String,
    pub(in crate::agent) name: String,
    /// JSON in a string, which may be broken.
    pub(in crate::agent) arguments: String,
}

impl Called {
    /// As a chat completion has it.
    fn as_json(&self) -> Value {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"id": self.id, "type": "function", "function": function})
    }

    /// The arguments as JSON; text that is none stays text, and none at all are an empty mapping.
    pub(in crate::agent) fn args(&self) -> Value {
        if self.arguments.trim().is_empty() {
            return json!({});
        }
        read_json(&self.arguments).unwrap_or_else(|_| self.arguments.clone().into())
    }
}

/// A turn, as far as it has come.
#[derive(Clone, Default)]
pub(in crate::agent) struct Rounds {
    pub(in crate::agent) reply: Reply,
    /// The tokens that each round reported.
    usages: Vec<Option<Usage>>,
}

impl Rounds {
    /// Takes in what one round has brought.
    pub(in crate::agent) fn take(&mut self, words: &str, received: &Received, usage: Option<Usage>) {
        let reply = &mut self.reply;
        if let (None, Some(first_ms)) = (reply.first_token_ms, received.first_ms) {
            reply.first_token_ms = Some(reply.latency_ms + first_ms);
        }
        reply.latency_ms += received.last_ms;
        self.usages.push(usage);
        reply.usage = Usage::of_replies(self.usages.iter().copied());
        if !words.trim().is_empty() {
            if !reply.text.is_empty() {
                reply.text.push_str("\n\n");
            }
            reply.text.push_str(words);
        }
    }

    /// How many rounds there were.
    pub(in crate::agent) fn count(&self) -> usize {
        self.usages.len()
    }

    /// The reply of all rounds.
    pub(in crate::agent) fn finish(&mut self) -> Result<Next, AttemptFailure> {
        Next::reply(std::mem::take(&mut self.reply))
    }

    /// What a call returns, as the text that the model is told; call and result become events.
    pub(in crate::agent) fn call(&mut self, tools: &[ToolConfig], call: &Called) -> String {
        let args = call.args();
        let output = returned(tools, &call.name, &args);
        let answer = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let kind = EventKind::FunctionCall(ToolCall { function: call.name.clone(), args });
        self.reply.events.push(Event::with_raw(kind, call.as_json()));
        self.reply.events.push(EventKind::FunctionResponse { output }.into());
        answer
    }

    /// After the last of [`ROUNDS`], with calls again.
    pub(in crate::agent) fn endless() -> AttemptFailure {
        let message = format!("the model called functions in {ROUNDS} rounds of one turn, and then again");
        AttemptFailure::reported(AgentErrorKind::BadReply, message)
    }
}
