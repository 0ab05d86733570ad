//! Chat completions, which OpenAI gave the world and others speak. Shapes as in OpenAI's API reference, "Create chat
//! completion" and "The chat completion object"; reading tolerates what other endpoints leave out or add.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::structured::Structured;
use super::{LlmRequest, ModelOptions, NoText, ReplyBody, RequestFeatures};
use crate::evidence::{ReplyToken, Role, Usage};
use crate::http::chat_text;

/// How many alternatives of a token are asked for: the most that OpenAI tells.
const MOST_ALTERNATIVES: u32 = 20;

/// The body of a request; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct ChatRequest<'a> {
    /// Where the provider wants the model: `model` or `model_id`, and what else stands at the beginning.
    #[serde(flatten)]
    head: Value,
    messages: Vec<ChatMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// The longest reply, under OpenAI's name of today.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    /// The longest reply, under the name that most endpoints know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    logprobs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

/// The shape of the reply.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: NamedSchema<'a> },
    JsonObject,
}

#[derive(Debug, Serialize)]
struct NamedSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Cow<'a, Value>,
}

/// A message of a request.
#[derive(Debug, Serialize)]
pub struct ChatMessage<'a> {
    role: &'static str,
    content: ChatContent<'a>,
}

/// A message's content.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ChatContent<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// A list of parts.
    Parts([ChatPart<'a>; 1]),
}

/// A part of a message.
#[derive(Debug, Serialize)]
pub struct ChatPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: Cow<'a, str>,
}

impl<'a> ChatContent<'a> {
    /// The text as a part of a list.
    pub fn part(text: Cow<'a, str>) -> ChatContent<'a> {
        ChatContent::Parts([ChatPart { kind: "text", text }])
    }
}

impl<'a> ChatRequest<'a> {
    /// The request with these features, without the longest reply. `user_content` forms the content of the user's messages.
    pub fn new(
        head: Value,
        request: &'a LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
        user_content: fn(Cow<'a, str>) -> ChatContent<'a>,
    ) -> ChatRequest<'a> {
        let message = |(role, text)| match role {
            // A tool's result must name the call that it answers; without one it is only text.
            Role::User | Role::Tool => ChatMessage { role: "user", content: user_content(text) },
            role => ChatMessage { role: role.as_str(), content: ChatContent::Text(text) },
        };
        let response_format = request.schema.as_ref().and_then(|schema| match features.structured {
            Structured::Schema => {
                let json_schema = NamedSchema { name: &schema.name, strict: true, schema: features.schema(schema) };
                Some(ResponseFormat::JsonSchema { json_schema })
            }
            Structured::Json => Some(ResponseFormat::JsonObject),
            Structured::Prompt => None,
        });
        let wants_alternatives = request.wants_alternatives() && features.alternatives;
        ChatRequest {
            head,
            messages: request.texts(features.structured != Structured::Schema).into_iter().map(message).collect(),
            temperature: features.temperature.then_some(request.temperature),
            max_completion_tokens: None,
            max_tokens: None,
            reasoning_effort: options.effort.filter(|_| features.effort).map(|effort| effort.as_str()),
            seed: request.rng_seed(options).filter(|_| features.rng_seed),
            logprobs: wants_alternatives,
            top_logprobs: wants_alternatives.then_some(MOST_ALTERNATIVES),
            response_format,
        }
    }
}

/// The reply's tokens with their alternatives.
pub(super) fn tokens(body: &ReplyBody) -> Vec<ReplyToken> {
    let alternative = |value: &Value| Some((value["token"].as_str()?.to_owned(), value["logprob"].as_f64()?));
    let token = |value: &Value| ReplyToken {
        text: value["token"].as_str().unwrap_or_default().to_owned(),
        alternatives: value["top_logprobs"].as_array().into_iter().flatten().filter_map(alternative).collect(),
    };
    let content = choice(body).and_then(|choice| choice.pointer("/logprobs/content"));
    content.and_then(Value::as_array).into_iter().flatten().map(token).collect()
}

/// The choice that was asked for: the first by its `index`, wherever it stands in the list.
fn choice(body: &ReplyBody) -> Option<&Value> {
    let choices = body.list("/choices").iter().filter(|choice| !choice.is_null());
    choices.min_by_key(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0))
}

/// The reply's text.
pub(super) fn text(body: &ReplyBody) -> Result<String, NoText> {
    let choice = choice(body).ok_or(NoText::NoChoice)?;
    let text_at = |pointer: &str| choice.pointer(pointer).and_then(Value::as_str);
    if let Some(refusal) = text_at("/message/refusal").filter(|refusal| !refusal.is_empty()) {
        return Err(NoText::Refused(refusal.to_owned()));
    }
    let text = || choice.pointer("/message/content").map(chat_text).unwrap_or_default();
    match text_at("/finish_reason") {
        Some("length") => Err(NoText::CutOff(text())),
        Some("content_filter") => Err(NoText::Filtered(String::new())),
        _ => Ok(text()),
    }
}

/// The tokens that the request took; those that the endpoint does not report stay unknown.
pub(super) fn usage(body: &ReplyBody) -> Usage {
    Usage {
        cached_input_tokens: body.number("/usage/prompt_tokens_details/cached_tokens"),
        reasoning_tokens: body.number("/usage/completion_tokens_details/reasoning_tokens"),
        ..Usage::from_counts(body.number("/usage/prompt_tokens"), body.number("/usage/completion_tokens"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(body: Value) -> ReplyBody {
        serde_json::from_value(body).unwrap()
    }

    fn choice(choice: Value) -> ReplyBody {
        reply(json!({"choices": [choice]}))
    }

    #[test]
    fn words_are_read_from_text_and_from_parts() {
        for content in [json!("Hello"), json!([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}])] {
            let reply = choice(json!({"message": {"content": content}, "finish_reason": "stop"}));
            assert_eq!(text(&reply).unwrap(), "Hello");
        }
    }

    #[test]
    fn the_choice_is_the_first_by_its_index() {
        let choice = |index: u64, text: &str| json!({"index": index, "message": {"content": text}});
        assert_eq!(text(&reply(json!({"choices": [choice(1, "second"), choice(0, "first")]}))).unwrap(), "first");
        let unnumbered = json!({"choices": [{"message": {"content": "first"}}, {"message": {"content": "second"}}]});
        assert_eq!(text(&reply(unnumbered)).unwrap(), "first");
    }

    #[test]
    fn what_holds_no_words_says_why() {
        for (reply, why) in [
            (reply(json!({})), NoText::NoChoice),
            (reply(json!({"choices": []})), NoText::NoChoice),
            (reply(json!({"choices": null})), NoText::NoChoice),
            (
                choice(json!({"message": {"content": "{\"a\":"}, "finish_reason": "length"})),
                NoText::CutOff("{\"a\":".to_owned()),
            ),
            (
                choice(json!({"message": {"content": ""}, "finish_reason": "content_filter"})),
                NoText::Filtered(String::new()),
            ),
            (
                choice(json!({"message": {"content": null, "refusal": "I won't."}, "finish_reason": "stop"})),
                NoText::Refused("I won't.".to_owned()),
            ),
        ] {
            assert_eq!(text(&reply), Err(why));
        }
    }

    #[test]
    fn unknown_tokens_stay_unknown() {
        assert_eq!(usage(&reply(json!({}))), Usage { calls: 1, unreported_calls: 1, ..Usage::default() });
        let usage = usage(&reply(json!({"usage": {"prompt_tokens": 10, "prompt_tokens_details": null}})));
        assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (Some(10), None, None));
    }
}
