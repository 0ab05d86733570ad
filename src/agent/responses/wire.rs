//! The Responses API: messages → their JSON; their JSON, whole or as events → text, calls, events and tokens. Shapes as
//! in OpenAI's API reference, "Create a model response", "The response object" and "Streaming events"; reading tolerates
//! what other endpoints leave out or add.

mod item;

use serde_json::{Map, Value, json};

use super::ResponsesConfig;
use crate::agent::rest::EventOutcome;
use crate::agent::tools::{EndpointError, RequestedCall, Round, ToolConfig, named_status};
use crate::evidence::{Event, Usage};
use crate::text::is_blank;

/// The context that a request continues; the endpoint keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponseContext {
    /// None: a new conversation.
    New,
    /// The response with this id.
    Response(String),
    /// The conversation with this id.
    Conversation(String),
}

/// The body of `POST /responses`.
pub(super) fn request(config: &ResponsesConfig, model: &str, context: &ResponseContext, input: &[Value]) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", model.into());
    put("input", input.into());
    // Neither these nor the functions are carried over from the previous response.
    if let Some(instructions) = &config.instructions {
        put("instructions", instructions.as_str().into());
    }
    if !config.tools.is_empty() {
        put("tools", config.tools.iter().map(tool).collect());
    }
    match context {
        ResponseContext::New => {}
        ResponseContext::Response(id) => drop(put("previous_response_id", id.as_str().into())),
        ResponseContext::Conversation(id) => drop(put("conversation", id.as_str().into())),
    }
    if let Some(temperature) = config.temperature {
        put("temperature", temperature.into());
    }
    if let Some(tokens) = config.max_tokens {
        put("max_output_tokens", tokens.into());
    }
    if let Some(effort) = config.reasoning_effort {
        put("reasoning", json!({ "effort": effort }));
    }
    put("store", true.into());
    put("stream", config.streams().into());
    body.into()
}

/// Not strict: strict functions must require every parameter, and the job's schemas are the user's own.
fn tool(tool: &ToolConfig) -> Value {
    json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema(),
           "strict": false})
}

/// A message of the user.
pub(super) fn message(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// The output of a call.
pub(super) fn returned(call: &RequestedCall, output: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call.id, "output": output})
}

/// A response, as far as it was received.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Response {
    pub(super) id: String,
    /// Whether its end has come: completed, failed or incomplete.
    pub(super) has_ended: bool,
    pub(super) usage: Option<Usage>,
    /// Why it is incomplete: `max_output_tokens`, `content_filter`.
    pub(super) incomplete: Option<String>,
    /// The error that the endpoint sent instead of a response.
    pub(super) error: Option<Value>,
    /// Whether nothing that came was part of a response; `None` before anything came.
    pub(super) is_other: Option<bool>,
    /// The response and the conversation that it continues, where it names them.
    previous: Option<String>,
    conversation: Option<String>,
    items: Vec<Value>,
    streamed: String,
}

impl Response {
    /// Takes in an event of the stream, or a whole response.
    pub(super) fn take(&mut self, piece: &Value) -> EventOutcome {
        let text = |key: &str| piece.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_known =
            text("type").starts_with("response.") || piece.get("error").is_some() || piece["output"].is_array();
        self.is_other = Some(!is_known && text("type") != "error" && self.is_other != Some(false));
        match text("type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.streamed.push_str(text("delta"));
                return if text("delta").is_empty() { EventOutcome::Nothing } else { EventOutcome::Text };
            }
            "response.output_item.done" => self.items.extend(piece.get("item").cloned()),
            // Its message says less than that of the `response.failed` that may follow.
            "error" => self.error = Some(piece.get("error").filter(|error| error.is_object()).unwrap_or(piece).clone()),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.end(piece.get("response").unwrap_or(&Value::Null));
                return EventOutcome::End;
            }
            "response.created" => {
                if let Some(id) = piece.pointer("/response/id").and_then(Value::as_str) {
                    self.id = id.to_owned();
                }
            }
            "" if piece.get("output").is_some() || piece.get("error").is_some() => self.end(piece),
            _ => {}
        }
        EventOutcome::Nothing
    }

    /// What is wrong with it as an answer in this context: it continues something else.
    pub(super) fn strays_from(&self, context: &ResponseContext) -> Option<String> {
        let ResponseContext::Conversation(own) = context else {
            let own = if let ResponseContext::Response(own) = context { own.as_str() } else { "none" };
            let other = self.previous.as_deref().filter(|previous| *previous != own)?;
            return Some(format!(
                "the response continues another one (previous_response_id {other:?} instead of {own:?})"
            ));
        };
        let other = self.conversation.as_deref().filter(|conversation| conversation != own)?;
        Some(format!("the response belongs to another conversation ({other:?} instead of {own:?})"))
    }

    fn end(&mut self, response: &Value) {
        self.has_ended = true;
        let id = |pointer: &str| response.pointer(pointer).and_then(Value::as_str).filter(|id| !id.is_empty());
        self.previous = id("/previous_response_id").map(str::to_owned);
        self.conversation = id("/conversation/id").or(id("/conversation")).map(str::to_owned);
        if let Some(id) = response.get("id").and_then(Value::as_str) {
            self.id = id.to_owned();
        }
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            self.error = Some(error.clone());
        } else if response.get("status").and_then(Value::as_str) == Some("failed") && self.error.is_none() {
            self.error = Some(json!({"message": "the response failed, and the endpoint does not say why"}));
        }
        if let Some(items) = response.get("output").and_then(Value::as_array).filter(|items| !items.is_empty()) {
            self.items.clone_from(items);
        }
        self.usage = response.get("usage").filter(|usage| usage.is_object()).map(parse_usage);
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let is_incomplete = response.get("status").and_then(Value::as_str) == Some("incomplete");
        self.incomplete = reason
            .map(str::to_owned)
            .or_else(|| is_incomplete.then(|| "for a reason that it does not tell".to_owned()));
    }

    /// Its messages, or its refusal, or the part of them that was received.
    pub(super) fn text(&self) -> String {
        let messages: Vec<String> = self.items.iter().map(item::message_text).filter(|text| !is_blank(text)).collect();
        if messages.is_empty() { self.streamed.clone() } else { messages.join("\n\n") }
    }

    /// The response as a round of a turn; a document is always whole.
    pub(super) fn into_round(self, is_document: bool) -> Round {
        // Beside its text: hosted tools, and whatever else is no message and no call of the job's functions.
        let cut = self.incomplete.as_ref().map(|reason| Event::other(json!({"incomplete": reason})));
        Round {
            text: self.text(),
            events: self.items.iter().flat_map(item::events).chain(cut).collect(),
            // A call may have been cut off.
            calls: self.items.iter().filter(|_| self.incomplete.is_none()).filter_map(item::called).collect(),
            usage: self.usage,
            error: self.error.as_ref().map(parse_error),
            unended: (!is_document && !self.has_ended).then_some("no response.completed had come"),
            foreign: (self.is_other == Some(true)).then_some("no response: it holds no output"),
            may_differ: true,
            why_empty: match self.incomplete.as_deref() {
                Some("content_filter") => Some("the provider's content filter took the reply away"),
                Some("max_output_tokens") => {
                    Some("the response hit the limit of tokens before any text; raise target.responses.maxTokens")
                }
                _ => None,
            },
        }
    }
}

fn parse_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    Usage {
        cached_input_tokens: number("/input_tokens_details/cached_tokens"),
        reasoning_tokens: number("/output_tokens_details/reasoning_tokens"),
        ..Usage::from_counts(number("/input_tokens"), number("/output_tokens"))
    }
}

/// An error within a success, with the status that it stands for by its number or its code.
fn parse_error(error: &Value) -> EndpointError {
    let message = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
    let code = error.get("code").and_then(Value::as_str).map(str::to_owned);
    let names =
        |part: &str| ["code", "type"].iter().any(|key| error[*key].as_str().is_some_and(|it| it.contains(part)));
    let status = named_status(error).unwrap_or(match () {
        () if names("rate_limit") => 429,
        () if names("not_found") => 404,
        () if names("server_error") || names("timeout") => 500,
        // An error in the input: a prompt, an image, a parameter.
        () if names("invalid") || names("image") || names("unsupported") => 400,
        () => 500,
    });
    EndpointError { message, code, status }
}

/// Whether an endpoint's message says that it no longer has a response or a conversation.
pub(super) fn says_context_is_lost(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let names_it = ["previous response", "previous_response", "conversation"].iter().any(|name| message.contains(name));
    message.contains("previous_response_not_found") || (names_it && message.contains("not found"))
}

#[cfg(test)]
mod tests;
