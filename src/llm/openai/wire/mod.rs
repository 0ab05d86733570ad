//! Chat completions: our request → their JSON, their JSON → our reply. Shapes as in OpenAI's API reference, "Create chat
//! completion"; reading tolerates what other endpoints leave out or add.

mod error;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::WireError;

use crate::evidence::{Message, ReplySchema, Role, Usage};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{LlmRequest, repair};

/// The body of `POST /chat/completions`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct CompletionRequest<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Debug, Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Value,
}

/// How a request is put to an endpoint of which something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How JSON is asked for, if it is.
    pub structured: Structured,
    /// Whether the temperature is sent.
    pub temperature: bool,
}

impl<'a> CompletionRequest<'a> {
    /// The request in this manner.
    pub fn of(model: &'a str, request: &'a LlmRequest, manner: Manner) -> CompletionRequest<'a> {
        let (messages, response_format) = match (&request.schema, manner.structured) {
            (None, _) => (wire_messages(&request.messages), None),
            (Some(schema), Structured::Schema) => (wire_messages(&request.messages), Some(json_schema(schema))),
            (Some(schema), Structured::Json) => (in_words(request, schema), Some(ResponseFormat::JsonObject)),
            (Some(schema), Structured::Words) => (in_words(request, schema), None),
        };
        let temperature = manner.temperature.then_some(request.temperature);
        CompletionRequest { model, messages, temperature, response_format }
    }
}

fn json_schema(schema: &ReplySchema) -> ResponseFormat<'_> {
    ResponseFormat::JsonSchema { json_schema: JsonSchema { name: &schema.name, strict: true, schema: &schema.schema } }
}

/// The schema is told in the first message, the fixed part; the rest is sent as it is.
fn in_words<'a>(request: &'a LlmRequest, schema: &ReplySchema) -> Vec<WireMessage<'a>> {
    let mut messages = wire_messages(&request.messages);
    if let Some(first) = messages.first_mut() {
        first.content = with_schema_in_words(&first.content, schema).into();
    }
    messages
}

fn wire_messages(messages: &[Message]) -> Vec<WireMessage<'_>> {
    messages
        .iter()
        .map(|message| WireMessage { role: wire_role(message.role), content: Cow::Borrowed(message.content.as_str()) })
        .collect()
}

/// A tool's result must name the call that it answers; without one it is only words.
fn wire_role(role: Role) -> &'static str {
    match role {
        Role::Tool => Role::User.as_str(),
        role => role.as_str(),
    }
}

/// The body of a success; an error can hide in it.
#[derive(Debug, Deserialize)]
pub struct CompletionReply {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    /// Gateways put an error of the model behind them here.
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<ChoiceMessage>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChoiceMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    #[serde(default)]
    completion_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

/// Why a success holds no words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoWords {
    /// The model refuses, in its words.
    Refused(String),
    /// The provider's filter took the words away.
    Filtered,
    /// The reply hit a token limit.
    Cut,
    /// There is no text.
    Nothing,
    /// There are no choices at all.
    NoChoice,
}

impl CompletionReply {
    /// The model's words, or why there are none. Where a schema was asked for, the JSON is cut out of what is around it;
    /// a text without any is handed on whole, so that whoever asked can say what is wrong with it.
    pub fn words(&self, wants_json: bool) -> Result<String, NoWords> {
        let choice = self.choices.iter().flatten().next().ok_or(NoWords::NoChoice)?;
        let message = choice.message.as_ref();
        if let Some(refusal) = message.and_then(|message| message.refusal.as_deref()).filter(|words| !words.is_empty())
        {
            return Err(NoWords::Refused(refusal.to_owned()));
        }
        match choice.finish_reason.as_deref() {
            Some("length") => return Err(NoWords::Cut),
            Some("content_filter") => return Err(NoWords::Filtered),
            _ => {}
        }
        let text = message.map(|message| text_of(&message.content)).unwrap_or_default();
        if text.trim().is_empty() {
            return Err(NoWords::Nothing);
        }
        let cut = wants_json.then(|| repair(&text)).flatten();
        Ok(cut.unwrap_or(text))
    }

    /// What the request cost; what the endpoint does not say stays unknown.
    pub fn usage(&self) -> Usage {
        let usage = self.usage.as_ref();
        Usage {
            calls: 1,
            input_tokens: usage.and_then(|usage| usage.prompt_tokens),
            cached_input_tokens: usage.and_then(|usage| usage.prompt_tokens_details.as_ref()?.cached_tokens),
            output_tokens: usage.and_then(|usage| usage.completion_tokens),
            reasoning_tokens: usage.and_then(|usage| usage.completion_tokens_details.as_ref()?.reasoning_tokens),
        }
    }
}

/// A message's text: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    let part = |part: &Value| part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(body: Value) -> CompletionReply {
        serde_json::from_value(body).unwrap()
    }

    fn choice(choice: Value) -> CompletionReply {
        reply(json!({"choices": [choice]}))
    }

    #[test]
    fn words_are_read_from_text_and_from_parts() {
        for content in [json!("Hello"), json!([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}])] {
            let reply = choice(json!({"message": {"content": content}, "finish_reason": "stop"}));
            assert_eq!(reply.words(false).unwrap(), "Hello");
        }
    }

    #[test]
    fn json_is_cut_out_only_where_it_was_asked_for() {
        let fenced = "```json\n{\"a\":1}\n```";
        let reply = choice(json!({"message": {"content": fenced, "refusal": null}}));
        assert_eq!(reply.words(true).unwrap(), r#"{"a":1}"#);
        assert_eq!(reply.words(false).unwrap(), fenced);
        assert_eq!(choice(json!({"message": {"content": "0.8"}})).words(true).unwrap(), "0.8");
    }

    #[test]
    fn what_holds_no_words_says_why() {
        for (reply, why) in [
            (reply(json!({})), NoWords::NoChoice),
            (reply(json!({"choices": []})), NoWords::NoChoice),
            (reply(json!({"choices": null})), NoWords::NoChoice),
            (choice(json!({})), NoWords::Nothing),
            (choice(json!({"message": {"content": null}})), NoWords::Nothing),
            (choice(json!({"message": {"content": " \n"}})), NoWords::Nothing),
            (choice(json!({"message": {"content": "{\"a\":"}, "finish_reason": "length"})), NoWords::Cut),
            (choice(json!({"message": {"content": ""}, "finish_reason": "content_filter"})), NoWords::Filtered),
            (
                choice(json!({"message": {"content": null, "refusal": "I won't."}, "finish_reason": "stop"})),
                NoWords::Refused("I won't.".to_owned()),
            ),
        ] {
            assert_eq!(reply.words(true), Err(why));
        }
    }

    #[test]
    fn unknown_tokens_stay_unknown() {
        assert_eq!(reply(json!({})).usage(), Usage { calls: 1, ..Usage::default() });
        let usage = reply(json!({"usage": {"prompt_tokens": 10, "prompt_tokens_details": null}})).usage();
        assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (Some(10), None, None));
    }
}
