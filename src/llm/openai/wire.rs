//! Chat completions: our request → their JSON. Shapes as in OpenAI's API reference, "Create chat completion"; the reply is
//! read by [`crate::llm::CompletionReply`].

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::evidence::{Message, ReplySchema, Role};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{LlmRequest, MaxTokens, ModelOptions, RequestFeatures};

/// The body of `POST /chat/completions`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct CompletionRequest<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
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

impl<'a> CompletionRequest<'a> {
    /// The request with these features.
    pub fn of(
        model: &'a str,
        request: &'a LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> CompletionRequest<'a> {
        let (messages, response_format) = match (&request.schema, features.structured) {
            (None, _) => (wire_messages(&request.messages), None),
            (Some(schema), Structured::Schema) => (wire_messages(&request.messages), Some(json_schema(schema))),
            (Some(schema), Structured::Json) => (in_words(request, schema), Some(ResponseFormat::JsonObject)),
            (Some(schema), Structured::Words) => (in_words(request, schema), None),
        };
        let longest = |name| options.max_tokens.filter(|_| features.max_tokens == name);
        CompletionRequest {
            model,
            messages,
            temperature: features.temperature.then_some(request.temperature),
            max_completion_tokens: longest(MaxTokens::Modern),
            max_tokens: longest(MaxTokens::Classic),
            reasoning_effort: options.effort.filter(|_| features.effort).map(|effort| effort.word()),
            seed: options.rng_seed.filter(|_| features.rng_seed),
            response_format,
        }
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
