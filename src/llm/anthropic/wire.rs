//! Messages: our request → their JSON, their JSON → our reply. Shapes as in Anthropic's API reference, "Create a Message".

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::{Role, Usage};
use crate::llm::structured::Structured;
use crate::llm::{Effort, LlmRequest, MaxTokens, ModelOptions, NoText, ReplyBody, RequestFeatures};

/// Anthropic wants the longest reply to be named; every model takes so much.
const LONGEST_REPLY: u32 = 4096;

/// The body of `POST /v1/messages`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct MessagesRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<MessageParam<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Debug, Serialize)]
struct MessageParam<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

impl<'a> MessagesRequest<'a> {
    /// The request with these features.
    pub fn new(
        model: &'a str,
        request: &'a LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> MessagesRequest<'a> {
        let (system, texts) = request.instructions_and_texts(features.structured == Structured::Prompt);
        let role = |role| if role == Role::Assistant { "assistant" } else { "user" };
        let messages = texts.into_iter().map(|(from, content)| MessageParam { role: role(from), content }).collect();
        let schema = request.schema.as_ref();
        let (mut format, mut tools, mut tool_choice) = (None, None, None);
        match (schema, features.structured) {
            (None, _) | (_, Structured::Prompt) => {}
            (Some(schema), Structured::Schema) => {
                format = Some(json!({"type": "json_schema", "schema": features.schema(schema)}));
            }
            (Some(schema), Structured::Json) => {
                let about = "Takes the reply. Everything that there is to say goes into its fields.";
                tools =
                    Some(json!([{"name": schema.name, "description": about, "input_schema": features.schema(schema)}]));
                tool_choice = Some(json!({"type": "tool", "name": schema.name}));
            }
        }
        let effort = options.effort.filter(|_| features.effort).map(|effort| match effort {
            Effort::Minimal => Effort::Low.as_str(),
            effort => effort.as_str(),
        });
        let mut output_config = json!({});
        if let Some(effort) = effort {
            output_config["effort"] = effort.into();
        }
        if let Some(format) = format {
            output_config["format"] = format;
        }
        let longest = options.max_tokens.filter(|_| features.max_tokens != MaxTokens::Omitted);
        MessagesRequest {
            model,
            max_tokens: longest.unwrap_or(LONGEST_REPLY),
            system,
            messages,
            temperature: features.temperature.then_some(request.temperature),
            output_config: Some(output_config).filter(|config| config != &json!({})),
            tools,
            tool_choice,
        }
    }
}

/// The reply's text; with a tool, the input of the tool, which stands for it.
pub fn text(body: &ReplyBody) -> Result<String, NoText> {
    body.get("/content").ok_or(NoText::NoChoice)?;
    let blocks = |kind: &'static str| body.list("/content").iter().filter(move |block| block["type"] == kind);
    let text = || match blocks("tool_use").find_map(|block| block.get("input")) {
        Some(input) => input.to_string(),
        None => blocks("text").filter_map(|block| block["text"].as_str()).collect(),
    };
    match body.text("/stop_reason") {
        Some("refusal") => Err(NoText::Refused(body.text("/stop_details/explanation").unwrap_or_default().to_owned())),
        Some("max_tokens" | "model_context_window_exceeded") => Err(NoText::CutOff(text())),
        _ => Ok(text()),
    }
}

/// The tokens that the request took. Their `input_tokens` are those that the cache had no part in: all three kinds together
/// are the request, each counted once.
pub fn usage(body: &ReplyBody) -> Usage {
    let read = body.number("/usage/cache_read_input_tokens");
    let written = body.number("/usage/cache_creation_input_tokens");
    let input = body
        .number("/usage/input_tokens")
        .map(|input| input.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0)));
    Usage {
        cached_input_tokens: read,
        reasoning_tokens: body.number("/usage/output_tokens_details/thinking_tokens"),
        ..Usage::from_counts(input, body.number("/usage/output_tokens"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: Value) -> ReplyBody {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn what_holds_no_words_says_why() {
        let text = json!([{"type": "text", "text": "Hel"}, {"type": "thinking", "thinking": "?"}, {"type": "text", "text": "lo"}]);
        assert_eq!(super::text(&reply(json!({"content": text, "stop_reason": "end_turn"}))).unwrap(), "Hello");
        for (body, why) in [
            (json!({}), NoText::NoChoice),
            (json!({"content": text, "stop_reason": "max_tokens"}), NoText::CutOff("Hello".to_owned())),
            (json!({"content": [], "stop_reason": "refusal"}), NoText::Refused(String::new())),
            (
                json!({"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "No."}}),
                NoText::Refused("No.".to_owned()),
            ),
        ] {
            assert_eq!(super::text(&reply(body)), Err(why));
        }
    }

    #[test]
    fn cached_tokens_are_counted_once() {
        let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000, "output_tokens": 5});
        let usage = super::usage(&reply(json!({"usage": usage})));
        assert_eq!(
            (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens),
            (Some(3210), Some(3000), Some(5))
        );
        let usage = super::usage(&reply(json!({"usage": {"input_tokens": 10, "cache_read_input_tokens": null}})));
        assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (Some(10), None, None));
    }
}
