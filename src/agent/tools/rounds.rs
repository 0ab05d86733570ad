//! One turn of a bare model: its rounds put together.

use serde_json::{Value, json};

use super::ToolConfig;
use super::mock::returned;
use crate::agent::streamed::Times;
use crate::agent::{AgentError, AgentErrorKind, Reply};
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
pub(in crate::agent) struct Rounds {
    pub(in crate::agent) reply: Reply,
    /// What each round told of its tokens.
    told: Vec<Option<Usage>>,
}

impl Rounds {
    pub(in crate::agent) fn new() -> Rounds {
        let reply =
            Reply { text: String::new(), events: Vec::new(), latency_ms: 0.0, first_token_ms: None, usage: None };
        Rounds { reply, told: Vec::new() }
    }

    /// Takes in what one round has brought.
    pub(in crate::agent) fn take(&mut self, words: &str, times: Times, usage: Option<Usage>) {
        let reply = &mut self.reply;
        if let (None, Some(first_ms)) = (reply.first_token_ms, times.first_ms) {
            reply.first_token_ms = Some(reply.latency_ms + first_ms);
        }
        reply.latency_ms += times.last_ms;
        self.told.push(usage);
        reply.usage = Usage::of_replies(self.told.iter().copied());
        if !words.trim().is_empty() {
            if !reply.text.is_empty() {
                reply.text.push_str("\n\n");
            }
            reply.text.push_str(words);
        }
    }

    /// What a call returns, as the text that the model is told; call and result become events.
    pub(in crate::agent) fn call(&mut self, tools: &[ToolConfig], call: &Called) -> String {
        let args = call.args();
        let output = returned(tools, &call.name, &args);
        let told = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let kind = EventKind::FunctionCall(ToolCall { function: call.name.clone(), args });
        self.reply.events.push(Event::with_raw(kind, call.as_json()));
        self.reply.events.push(EventKind::FunctionResponse { output }.into());
        told
    }

    /// Where somebody asks for the state of a bare model.
    pub(in crate::agent) fn no_state() -> AgentError {
        AgentError { kind: AgentErrorKind::NotFound, message: "a bare model has no state to show".to_owned() }
    }

    /// After the last of [`ROUNDS`], with calls again.
    pub(in crate::agent) fn endless() -> AgentError {
        let message = format!("the model called functions in {ROUNDS} rounds of one turn, and then again");
        AgentError { kind: AgentErrorKind::BadReply, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_tells_no_tokens_is_missing_and_not_free() {
        let mut rounds = Rounds::new();
        let times = Times { first_ms: None, last_ms: 1.0 };
        rounds.take("", times, None);
        assert_eq!(rounds.reply.usage, None);
        rounds.take("Done.", times, Some(Usage::of_call(Some(10), Some(2))));
        let usage = rounds.reply.usage.unwrap();
        assert_eq!((usage.calls, usage.unreported_calls, usage.total_tokens()), (2, 1, Some(12)));
    }
}
