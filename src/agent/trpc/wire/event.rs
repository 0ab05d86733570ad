//! Events and messages, as Go writes them: a missing list is null, and bytes are Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::evidence::{Event, ToolCall, Usage};

/// `event.Event` with the fields of `model.Response`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RunEvent {
    pub(super) author: String,
    object: String,
    choices: Option<Vec<Choice>>,
    usage: Option<TokenUsage>,
    done: bool,
    pub(super) is_partial: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Message,
}

/// `model.Message`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) role: String,
    content: String,
    content_parts: Option<Vec<Value>>,
    tool_id: String,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Call {
    function: Function,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
    arguments: Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct TokenUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Value>,
}

impl RunEvent {
    /// The runner's word that the run is over. Newer ones say the final response again with it.
    pub(super) fn is_completion(&self) -> bool {
        self.done && self.object == "runner.completion"
    }

    /// trpc-agent-go's own rule, `Response.IsFinalResponse`.
    pub(super) fn is_final(&self) -> bool {
        let calls = self.messages().next().is_some_and(|message| !message.calls().is_empty());
        !self.is_partial && !calls && self.done && self.messages().next().is_some()
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.choices.iter().flatten().map(|choice| &choice.message)
    }

    /// The words of its first choice: the others are alternatives.
    pub(super) fn words(&self) -> String {
        self.messages().next().map(Message::words).unwrap_or_default()
    }

    /// What the request behind it took. A completion sums up what was counted before.
    pub(super) fn usage(&self) -> Option<Usage> {
        let usage = self.usage.as_ref().filter(|_| !self.is_completion())?;
        let details = usage.prompt_tokens_details.as_ref();
        Some(Usage {
            cached_input_tokens: details.and_then(|details| details.get("cached_tokens")?.as_u64()),
            ..Usage::of_call(usage.prompt_tokens, usage.completion_tokens)
        })
    }
}

impl Message {
    /// Whether the agent speaks to the user.
    pub(super) fn is_answer(&self) -> bool {
        self.role == "assistant" && self.calls().is_empty()
    }

    /// The text; of several parts those that are text. As in `model.Message`, parts win over content.
    pub(super) fn words(&self) -> String {
        let parts = self.content_parts.iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
        if texts.is_empty() { self.content.clone() } else { texts.concat() }
    }

    /// What it tells beside the final response, in order.
    pub(super) fn tell(&self, author: &str, is_response: bool, ours: &mut Vec<Event>) {
        let words = self.words();
        if !self.tool_id.is_empty() {
            ours.push(Event::FunctionResponse { output: json_or_text(&words) });
            return;
        }
        if !is_response && !words.trim().is_empty() {
            let author = (!author.is_empty()).then_some(author);
            ours.push(Event::Other { data: json!({"intermediate": words, "author": author}) });
        }
        for Function { name, arguments } in self.calls().iter().map(|call| &call.function) {
            ours.push(Event::FunctionCall(ToolCall { function: name.clone(), args: arguments_of(arguments) }));
        }
    }

    fn calls(&self) -> &[Call] {
        self.tool_calls.as_deref().unwrap_or_default()
    }
}

/// Arguments are bytes of JSON, which Go writes as Base64. JSON text, or JSON itself, is taken as it is.
fn arguments_of(written: &Value) -> Value {
    match written {
        Value::Null => json!({}),
        Value::String(text) if text.is_empty() => json!({}),
        Value::String(text) => {
            let bytes = STANDARD.decode(text).ok();
            let decoded = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            decoded.unwrap_or_else(|| json_or_text(text))
        }
        other => other.clone(),
    }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
