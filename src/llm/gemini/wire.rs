//! `generateContent`: our request → their JSON, their JSON → our reply. Shapes as in the Gemini API reference, "Generating
//! content".

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::evidence::{Message, Role, Usage};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{LlmRequest, MaxTokens, ModelOptions, NoWords, RequestFeatures, repair};

/// A conversation begins with the user: what the user "says" before an opening of the model.
const OPENING: &str = "(The conversation begins.)";

/// The body of `POST /v1beta/models/MODEL:generateContent`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GenerateRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    generation_config: GenerationConfig<'a>,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Part<'a> {
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
    response_json_schema: Option<&'a Value>,
}

impl<'a> GenerateRequest<'a> {
    /// The request with these features.
    pub fn of(request: &'a LlmRequest, options: &ModelOptions, features: RequestFeatures) -> GenerateRequest<'a> {
        let (mut system_instruction, mut contents) = parts(&request.messages);
        let mut generation_config = GenerationConfig {
            temperature: features.temperature.then_some(request.temperature),
            max_output_tokens: options.max_tokens.filter(|_| features.max_tokens != MaxTokens::Omitted),
            seed: options.rng_seed.filter(|_| features.rng_seed),
            thinking_config: options
                .effort
                .filter(|_| features.effort)
                .map(|effort| json!({"thinkingLevel": effort.word().to_uppercase()})),
            ..GenerationConfig::default()
        };
        if let Some(schema) = &request.schema {
            generation_config.response_mime_type =
                (features.structured != Structured::Words).then_some("application/json");
            if features.structured == Structured::Schema {
                generation_config.response_json_schema = Some(&schema.schema);
            } else if let Some(first) = system_instruction.as_mut().or(contents.first_mut()) {
                first.parts[0].text = with_schema_in_words(&first.parts[0].text, schema).into();
            }
        }
        GenerateRequest { system_instruction, contents, generation_config }
    }
}

/// The instructions at the beginning, and the conversation, which begins with the user.
fn parts(messages: &[Message]) -> (Option<Content<'_>>, Vec<Content<'_>>) {
    let content = |role, text| Content { role, parts: [Part { text: Cow::Borrowed(text) }] };
    let (system, rest) = match messages.split_first() {
        Some((first, rest)) if first.role == Role::System => (Some(content(None, first.content.as_str())), rest),
        _ => (None, messages),
    };
    let role = |role| if role == Role::Assistant { "model" } else { "user" };
    let opens = rest.first().is_none_or(|first| first.role == Role::Assistant);
    let opening = opens.then(|| content(Some("user"), OPENING));
    let rest = rest.iter().map(|message| content(Some(role(message.role)), message.content.as_str()));
    (system, opening.into_iter().chain(rest).collect())
}

/// The body of a success; an error can hide in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GenerateReply {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(default)]
    usage_metadata: Option<UsageMetadata>,
    /// An error in a success's clothing.
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<ReplyContent>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ReplyContent {
    #[serde(default)]
    parts: Option<Vec<ReplyPart>>,
}

#[derive(Debug, Deserialize)]
struct ReplyPart {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageMetadata {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
}

impl GenerateReply {
    /// The model's words, or why there are none; thoughts are none. With a schema, the JSON is cut out of the text.
    pub fn words(&self, wants_json: bool) -> Result<String, NoWords> {
        if let Some(reason) = self.prompt_feedback.as_ref().and_then(|feedback| feedback.block_reason.as_ref()) {
            return Err(NoWords::Filtered(reason.clone()));
        }
        let candidate = self.candidates.iter().flatten().next().ok_or(NoWords::NoChoice)?;
        match candidate.finish_reason.as_deref() {
            None | Some("STOP" | "FINISH_REASON_UNSPECIFIED" | "OTHER" | "MALFORMED_RESPONSE") => {}
            Some("MAX_TOKENS") => return Err(NoWords::Cut),
            Some(reason) => return Err(NoWords::Filtered(reason.to_owned())),
        }
        let parts = candidate.content.as_ref().and_then(|content| content.parts.as_ref());
        let text: String = parts
            .into_iter()
            .flatten()
            .filter(|part| part.thought != Some(true))
            .filter_map(|part| part.text.as_deref())
            .collect();
        if text.trim().is_empty() {
            return Err(NoWords::Nothing);
        }
        let cut = wants_json.then(|| repair(&text)).flatten();
        Ok(cut.unwrap_or(text))
    }

    /// What the request cost. Their candidates do not hold the thoughts, which are paid for as output.
    pub fn usage(&self) -> Usage {
        let Some(usage) = &self.usage_metadata else { return Usage::of_call(None, None) };
        let thoughts = usage.thoughts_token_count;
        let output = usage.candidates_token_count.map(|said| said + thoughts.unwrap_or(0));
        Usage {
            cached_input_tokens: usage.cached_content_token_count,
            reasoning_tokens: thoughts,
            ..Usage::of_call(usage.prompt_token_count, output)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: Value) -> GenerateReply {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn words_are_read_and_thoughts_are_not() {
        let parts = json!([{"text": "Hm.", "thought": true}, {"text": "Hel"}, {"text": "lo"}]);
        let body = json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]});
        assert_eq!(reply(body).words(false).unwrap(), "Hello");
    }

    #[test]
    fn what_holds_no_words_says_why() {
        for (body, why) in [
            (json!({}), NoWords::NoChoice),
            (json!({"promptFeedback": {"blockReason": "SAFETY"}}), NoWords::Filtered("SAFETY".to_owned())),
            (json!({"candidates": [{"finishReason": "STOP"}]}), NoWords::Nothing),
            (json!({"candidates": [{"content": {}, "finishReason": "STOP"}]}), NoWords::Nothing),
            (json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}), NoWords::Cut),
            (json!({"candidates": [{"finishReason": "RECITATION"}]}), NoWords::Filtered("RECITATION".to_owned())),
        ] {
            assert_eq!(reply(body).words(true), Err(why));
        }
    }

    #[test]
    fn thoughts_are_part_of_the_output() {
        let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 90, "totalTokenCount": 105});
        let usage = reply(json!({"usageMetadata": usage})).usage();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.reasoning_tokens), (Some(10), Some(95), Some(90)));
        assert_eq!((usage.cached_input_tokens, usage.largest_total_tokens), (None, Some(105)));
    }
}
