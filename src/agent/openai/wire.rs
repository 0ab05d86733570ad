//! Chat completions: our conversation → their JSON; their JSON, whole or in pieces → text, calls and tokens. Shapes as in
//! OpenAI's API reference, "Create chat completion" and "The chat completion chunk object"; reading tolerates what other
//! endpoints leave out or add.

use serde_json::{Map, Value, json};

use super::OpenAiConfig;
use crate::agent::tools::{EndpointError, RequestedCall, Round, ToolConfig, named_status};
use crate::evidence::{Event, Usage};
use crate::http::chat_text;
use crate::text::is_blank;

/// The optional features of a request: those that the endpoint has not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChatFeatures {
    /// Whether the usage is requested: `stream_options`.
    pub(super) usage: bool,
    /// Whether the limit of tokens is sent as `max_completion_tokens`.
    pub(super) completion_tokens: bool,
    /// Whether the temperature is sent.
    pub(super) temperature: bool,
}

impl Default for ChatFeatures {
    fn default() -> ChatFeatures {
        ChatFeatures { usage: true, completion_tokens: false, temperature: true }
    }
}

impl ChatFeatures {
    /// Leaves out or renames the feature that a refusal names. Returns whether there is one.
    pub(super) fn leave_out(&mut self, config: &OpenAiConfig, refusal: &str) -> bool {
        let before = *self;
        if self.usage && refusal.contains("stream_options") {
            self.usage = false;
        } else if config.max_tokens.is_some() && !self.completion_tokens && refusal.contains("max_completion_tokens") {
            self.completion_tokens = true;
        } else if config.temperature.is_some() && self.temperature && refusal.contains("temperature") {
            self.temperature = false;
        }
        *self != before
    }
}

/// The body of `POST /chat/completions`.
pub(super) fn request(config: &OpenAiConfig, model: &str, history: &[Value], features: ChatFeatures) -> Value {
    let system = config.system.iter().map(|system| json!({"role": "system", "content": system}));
    let messages: Vec<Value> = system.chain(history.iter().cloned()).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages.into());
    if let Some(temperature) = config.temperature.filter(|_| features.temperature) {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if let Some(tokens) = config.max_tokens {
        let key = if features.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(key.to_owned(), tokens.into());
    }
    if !config.tools.is_empty() {
        body.insert("tools".to_owned(), config.tools.iter().map(tool).collect());
    }
    body.insert("stream".to_owned(), config.streams().into());
    if features.usage && config.streams() {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    body.into()
}

fn tool(tool: &ToolConfig) -> Value {
    let parameters = tool.schema();
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}})
}

/// A completion, as far as it was received.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) calls: Vec<RequestedCall>,
    pub(super) finish_reason: Option<String>,
    /// The texts before calls that an agent behind the endpoint made itself.
    pub(super) earlier: Vec<String>,
    pub(super) usage: Option<Usage>,
    /// The error that the endpoint sent instead of a reply.
    pub(super) error: Option<Value>,
    /// Whether nothing that came was part of a completion; `None` before anything came.
    pub(super) is_other: Option<bool>,
    /// The index that the endpoint gives to the pieces of each call.
    indexes: Vec<Option<u64>>,
}

impl Completion {
    /// Takes in a chunk, or a whole completion. Returns whether it has text for the user.
    pub(super) fn take(&mut self, piece: &Value) -> bool {
        if let Some(error) = piece.get("error").filter(|error| !error.is_null()) {
            self.error = Some(error.clone());
        }
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(parse_usage(usage));
        }
        let has_message = |choice: &Value| ["message", "delta"].iter().any(|key| choice.get(key).is_some());
        let is_known = piece.get("choices").and_then(Value::as_array);
        let is_known = is_known.is_some_and(|choices| choices.first().is_none_or(has_message));
        self.is_other = Some(!is_known && self.is_other != Some(false));
        let Some(choice) = piece.pointer("/choices/0") else { return false };
        let has_called = self.finish_reason.as_deref() == Some("tool_calls") && self.calls.is_empty();
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish_reason = Some(reason.to_owned());
        }
        let delta = choice.get("delta").filter(|delta| delta.is_object()).or_else(|| choice.get("message"));
        let Some(delta) = delta else { return false };
        let (text, refusal) = (chat_text(&delta["content"]), chat_text(&delta["refusal"]));
        if has_called && !text.is_empty() && !self.text.is_empty() {
            // No model continues after its calls; an agent that hides them does.
            self.earlier.push(std::mem::take(&mut self.text));
            self.finish_reason = None;
        }
        self.text.push_str(&text);
        self.refusal.push_str(&refusal);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.take_call(call);
        }
        !text.is_empty() || !refusal.is_empty()
    }

    fn take_call(&mut self, piece: &Value) {
        let (index, id) = (piece["index"].as_u64(), piece["id"].as_str().unwrap_or_default());
        let known = match index {
            Some(_) => self.indexes.iter().position(|known| *known == index),
            // Without an index, a new id is a new call, and no id continues the last one.
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        let at = known.unwrap_or_else(|| {
            self.calls.push(RequestedCall::default());
            self.indexes.push(index);
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        if let Some(name) = piece.pointer("/function/name").and_then(Value::as_str)
            && call.name.is_empty()
        {
            call.name = name.to_owned();
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            // Some endpoints send the object itself.
            Some(object @ Value::Object(_)) => call.arguments = object.to_string(),
            _ => {}
        }
    }

    /// The reply to the user: its text, or its refusal.
    pub(super) fn reply_text(&self) -> &str {
        if is_blank(&self.text) { &self.refusal } else { &self.text }
    }

    /// The completion as a round of a turn; `is_over` where the stream's end was received.
    pub(super) fn into_round(self, is_over: bool) -> Round {
        let earlier = self.earlier.iter().map(|text| Event::other(json!({"intermediate": text.trim()})));
        let cut = self.finish_reason.as_deref().filter(|reason| matches!(*reason, "length" | "content_filter"));
        let cut = cut.map(|reason| Event::other(json!({"finish_reason": reason, "incomplete": reason})));
        let has_ended = is_over || self.finish_reason.is_some();
        Round {
            text: self.reply_text().to_owned(),
            events: earlier.chain(cut).collect(),
            usage: self.usage,
            error: self.error.as_ref().map(parse_error),
            unended: (!has_ended).then_some("neither [DONE] nor a finish_reason had come"),
            foreign: (self.is_other == Some(true)).then_some("no completion: it holds no choices with a message"),
            why_empty: match self.finish_reason.as_deref() {
                Some("content_filter") => Some("the provider's content filter took the reply away"),
                Some("length") => Some("the reply hit the limit of tokens before any text; raise maxTokens"),
                _ => None,
            },
            // The next attempt would give the same, and cost again.
            may_differ: false,
            calls: self.calls,
        }
    }

    /// The message that goes into the history before the results of its calls.
    pub(super) fn message(&self) -> Value {
        let calls: Vec<Value> = self.calls.iter().map(RequestedCall::to_json).collect();
        let content = if self.text.is_empty() { Value::Null } else { self.text.clone().into() };
        json!({"role": "assistant", "content": content, "tool_calls": calls})
    }
}

fn parse_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    Usage {
        cached_input_tokens: number("/prompt_tokens_details/cached_tokens"),
        reasoning_tokens: number("/completion_tokens_details/reasoning_tokens"),
        ..Usage::from_counts(number("/prompt_tokens"), number("/completion_tokens"))
    }
}

/// Reads an error; without a status of its own it is a failure of the endpoint.
fn parse_error(error: &Value) -> EndpointError {
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    EndpointError { message, code: None, status: named_status(error).unwrap_or(500) }
}

#[cfg(test)]
mod tests;
