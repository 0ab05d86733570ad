//! `generateContent`: our request → their JSON, their JSON → our reply. Shapes as in the Gemini API reference, "Generating
//! content".

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::{Role, Usage};
use crate::llm::structured::Structured;
use crate::llm::{LlmRequest, MaxTokens, ModelOptions, NoText, ReplyBody, RequestFeatures};

/// The body of `POST /v1beta/models/MODEL:generateContent`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GenerateRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiContent<'a>>,
    contents: Vec<GeminiContent<'a>>,
    generation_config: GenerationConfig<'a>,
}

#[derive(Debug, Serialize)]
struct GeminiContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [TextPart<'a>; 1],
}

#[derive(Debug, Serialize)]
struct TextPart<'a> {
    text: Cow<'a, str>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Cow<'a, Value>>,
}

impl<'a> GenerateRequest<'a> {
    /// The request with these features.
    pub fn new(request: &'a LlmRequest, options: &ModelOptions, features: RequestFeatures) -> GenerateRequest<'a> {
        let (system, texts) = request.instructions_and_texts(features.structured != Structured::Schema);
        let content = |role, text| GeminiContent { role, parts: [TextPart { text }] };
        let role = |role| if role == Role::Assistant { "model" } else { "user" };
        let mut generation_config = GenerationConfig {
            temperature: features.temperature.then_some(request.temperature),
            max_output_tokens: options.max_tokens.filter(|_| features.max_tokens != MaxTokens::Omitted),
            seed: request.rng_seed(options).filter(|_| features.rng_seed),
            thinking_config: options
                .effort
                .filter(|_| features.effort)
                .map(|effort| json!({"thinkingLevel": effort.as_str().to_uppercase()})),
            ..GenerationConfig::default()
        };
        if let Some(schema) = &request.schema {
            generation_config.response_mime_type =
                (features.structured != Structured::Prompt).then_some("application/json");
            if features.structured == Structured::Schema {
                generation_config.response_json_schema = Some(features.schema(schema));
            }
        }
        GenerateRequest {
            system_instruction: system.map(|system| content(None, system)),
            contents: texts.into_iter().map(|(from, text)| content(Some(role(from)), text)).collect(),
            generation_config,
        }
    }
}

/// The reply's text, without the model's thoughts.
pub fn text(body: &ReplyBody) -> Result<String, NoText> {
    if let Some(reason) = body.text("/promptFeedback/blockReason") {
        return Err(NoText::Filtered(reason.to_owned()));
    }
    body.get("/candidates/0").ok_or(NoText::NoChoice)?;
    let written = || {
        let parts = body.list("/candidates/0/content/parts").iter().filter(|part| part["thought"] != true);
        parts.filter_map(|part| part["text"].as_str()).collect()
    };
    match body.text("/candidates/0/finishReason") {
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED" | "OTHER" | "MALFORMED_RESPONSE") => {}
        Some("MAX_TOKENS") => return Err(NoText::CutOff(written())),
        Some(reason) => return Err(NoText::Filtered(reason.to_owned())),
    }
    Ok(written())
}

/// The tokens that the request took. Their candidates do not hold the thoughts, which are paid for as output.
pub fn usage(body: &ReplyBody) -> Usage {
    let number = |key: &str| body.number(&format!("/usageMetadata/{key}"));
    let thoughts = number("thoughtsTokenCount");
    let output = number("candidatesTokenCount").map(|text| text + thoughts.unwrap_or(0));
    Usage {
        cached_input_tokens: number("cachedContentTokenCount"),
        reasoning_tokens: thoughts,
        ..Usage::from_counts(number("promptTokenCount"), output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: Value) -> ReplyBody {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn words_are_read_and_thoughts_are_not() {
        let parts = json!([{"text": "Hm.", "thought": true}, {"text": "Hel"}, {"text": "lo"}]);
        let body = json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]});
        assert_eq!(super::text(&reply(body)).unwrap(), "Hello");
    }

    #[test]
    fn what_holds_no_words_says_why() {
        for (body, why) in [
            (json!({}), NoText::NoChoice),
            (json!({"promptFeedback": {"blockReason": "SAFETY"}}), NoText::Filtered("SAFETY".to_owned())),
            (json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}), NoText::CutOff(String::new())),
            (json!({"candidates": [{"finishReason": "RECITATION"}]}), NoText::Filtered("RECITATION".to_owned())),
        ] {
            assert_eq!(super::text(&reply(body)), Err(why));
        }
    }

    #[test]
    fn thoughts_are_part_of_the_output() {
        let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 90, "totalTokenCount": 105});
        let usage = super::usage(&reply(json!({"usageMetadata": usage})));
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.reasoning_tokens), (Some(10), Some(95), Some(90)));
        assert_eq!((usage.cached_input_tokens, usage.largest_total_tokens), (None, Some(105)));
    }
}
