//! Text chat: our request → their JSON. Shapes as in the watsonx.ai API reference, "Infer text chat"; the reply is read by
//! [`crate::llm::CompletionReply`].

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::{Message, Role};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{LlmRequest, MaxTokens, ModelOptions, RequestFeatures};

/// Without a number watsonx.ai cuts replies at 1,024 tokens.
const LONGEST_REPLY: u32 = 4096;

/// What a request is billed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Payer {
    /// A project's id.
    ProjectId(String),
    /// A deployment space's id.
    SpaceId(String),
}

/// The body of `POST /ml/v1/text/chat`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct ChatRequest<'a> {
    model_id: &'a str,
    #[serde(flatten)]
    payer: &'a Payer,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

/// The user's words are parts, those of the others plain text, as in IBM's own examples.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts([Part<'a>; 1]),
}

#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: Cow<'a, str>,
}

impl<'a> ChatRequest<'a> {
    /// The request with these features.
    pub fn of(
        model: &'a str,
        payer: &'a Payer,
        request: &'a LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> ChatRequest<'a> {
        let mut messages: Vec<WireMessage<'_>> = request.messages.iter().map(wire_message).collect();
        let mut response_format = None;
        if let Some(schema) = &request.schema {
            match features.structured {
                Structured::Schema => {
                    let schema = json!({"name": schema.name, "strict": true, "schema": schema.schema});
                    response_format = Some(json!({"type": "json_schema", "json_schema": schema}));
                }
                Structured::Json => response_format = Some(json!({"type": "json_object"})),
                Structured::Words => {}
            }
            if features.structured != Structured::Schema
                && let Some(first) = messages.first_mut()
            {
                let (Content::Text(text) | Content::Parts([Part { text, .. }])) = &mut first.content;
                *text = with_schema_in_words(text, schema).into();
            }
        }
        let longest = options.max_tokens.unwrap_or(LONGEST_REPLY);
        ChatRequest {
            model_id: model,
            payer,
            messages,
            max_tokens: (features.max_tokens != MaxTokens::Omitted).then_some(longest),
            temperature: features.temperature.then_some(request.temperature),
            reasoning_effort: options.effort.filter(|_| features.effort).map(|effort| effort.word()),
            seed: options.rng_seed.filter(|_| features.rng_seed),
            response_format,
        }
    }
}

fn wire_message(message: &Message) -> WireMessage<'_> {
    let text = Cow::Borrowed(message.content.as_str());
    match message.role {
        Role::System => WireMessage { role: "system", content: Content::Text(text) },
        Role::Assistant => WireMessage { role: "assistant", content: Content::Text(text) },
        // A tool's result must name the call that it answers; without one it is only words.
        Role::User | Role::Tool => WireMessage { role: "user", content: Content::Parts([Part { kind: "text", text }]) },
    }
}
