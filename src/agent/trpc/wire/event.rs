//! Events and messages, as Go writes them: a missing list is null, and bytes are Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::agent::json::{arguments_of, json_within, token_count};
use crate::evidence::{Event, EventKind, Usage};
use crate::text::is_blank;

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
    /// The whole event, as it came.
    #[serde(skip)]
    raw: Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: RunMessage,
    finish_reason: Option<String>,
}

/// `model.Message`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RunMessage {
    pub(super) role: String,
    content: String,
    content_parts: Option<Vec<Value>>,
    tool_id: String,
    tool_calls: Option<Vec<RunCall>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RunCall {
    function: RunFunction,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RunFunction {
    name: String,
    arguments: Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct TokenUsage {
    #[serde(deserialize_with = "token_count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "token_count")]
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Value>,
}

/// Reads events and keeps them as they came.
pub(super) fn read_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<RunEvent>>, D::Error> {
    let read = |raw: Value| {
        let event = RunEvent::deserialize(&raw).map_err(D::Error::custom)?;
        Ok(RunEvent { raw, ..event })
    };
    let all = Option::<Vec<Value>>::deserialize(deserializer)?;
    all.map(|all| all.into_iter().map(read).collect()).transpose()
}

impl RunEvent {
    /// Adds its events beside the final response, in order.
    pub(super) fn push_events(&self, is_response: bool, ours: &mut Vec<Event>) {
        for (index, choice) in self.choices.iter().flatten().enumerate() {
            let mut raw = self.raw.clone();
            if let Some(choices) = raw.get_mut("choices").and_then(Value::as_array_mut) {
                let own = choices.get(index).cloned();
                *choices = own.into_iter().collect();
            }
            choice.message.push_events(&self.author, is_response, &raw, ours);
            if let Some(reason @ ("length" | "content_filter")) = choice.finish_reason.as_deref() {
                let data = json!({"finish_reason": reason, "incomplete": reason});
                ours.push(Event::with_raw(EventKind::Other { data }, raw));
            }
        }
    }

    /// Whether it is the runner's last event, which in newer versions repeats the final response.
    pub(super) fn is_completion(&self) -> bool {
        self.done && self.object == "runner.completion"
    }

    /// trpc-agent-go's own rule, `Response.IsFinalResponse`.
    pub(super) fn is_final(&self) -> bool {
        let calls = self.messages().next().is_some_and(|message| !message.calls().is_empty());
        !self.is_partial && !calls && self.done && self.messages().next().is_some()
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = &RunMessage> {
        self.choices.iter().flatten().map(|choice| &choice.message)
    }

    /// The text of its first choice: the others are alternatives.
    pub(super) fn text(&self) -> String {
        self.messages().next().map(RunMessage::text).unwrap_or_default()
    }

    /// The tokens of the request behind it. A completion sums up those that were counted before.
    pub(super) fn usage(&self) -> Option<Usage> {
        let usage = self.usage.as_ref().filter(|_| !self.is_completion())?;
        let details = usage.prompt_tokens_details.as_ref();
        Some(Usage {
            cached_input_tokens: details.and_then(|details| details.get("cached_tokens")?.as_u64()),
            ..Usage::from_counts(usage.prompt_tokens, usage.completion_tokens)
        })
    }
}

impl RunMessage {
    /// Whether it is a message of the agent to the user.
    pub(super) fn is_answer(&self) -> bool {
        self.role == "assistant" && self.calls().is_empty()
    }

    /// The text; of several parts those that are text. As in `model.Message`, parts win over content.
    pub(super) fn text(&self) -> String {
        let parts = self.content_parts.iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
        if texts.is_empty() { self.content.clone() } else { texts.concat() }
    }

    /// Adds its events beside the final response, in order; `raw` is the event that it came with.
    pub(super) fn push_events(&self, author: &str, is_response: bool, raw: &Value, ours: &mut Vec<Event>) {
        let text = self.text();
        if !self.tool_id.is_empty() {
            ours.push(Event::response(json_within(text.into()), raw.clone()));
            return;
        }
        if !is_response && !is_blank(&text) {
            let author = (!author.is_empty()).then_some(author);
            let kind = EventKind::Other { data: json!({"intermediate": text, "author": author}) };
            ours.push(Event::with_raw(kind, raw.clone()));
        }
        for (index, RunFunction { name, arguments }) in self.calls().iter().map(|call| &call.function).enumerate() {
            let mut raw = raw.clone();
            for place in ["/choices/0/message/tool_calls", "/tool_calls"] {
                if let Some(calls) = raw.pointer_mut(place).and_then(Value::as_array_mut) {
                    let own = calls.get(index).cloned();
                    *calls = own.into_iter().collect();
                }
            }
            ours.push(Event::call(name, read_arguments(arguments), raw));
        }
    }

    fn calls(&self) -> &[RunCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }
}

/// Arguments are bytes of JSON, which Go writes as Base64. JSON text, or JSON itself, is taken as it is.
fn read_arguments(written: &Value) -> Value {
    match written {
        Value::Null => json!({}),
        Value::String(text) => {
            let bytes = STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty());
            let decoded = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            decoded.unwrap_or_else(|| arguments_of(text.as_str().into()))
        }
        other => other.clone(),
    }
}
