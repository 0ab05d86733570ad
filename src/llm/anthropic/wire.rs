//! Messages: our request → their JSON, their JSON → our reply. Shapes as in Anthropic's API reference, "Create a Message".

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::evidence::{Message, Role, Usage};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{Effort, LlmRequest, MaxTokens, ModelOptions, NoWords, RequestFeatures, repair};

/// Anthropic wants the longest reply to be named; every model takes so much.
const LONGEST_REPLY: u32 = 4096;

/// A conversation begins with the user: what the user "says" before an opening of the model.
pub const OPENING: &str = "(The conversation begins.)";

/// The body of `POST /v1/messages`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct MessagesRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<WireMessage<'a>>,
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
struct WireMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

impl<'a> MessagesRequest<'a> {
    /// The request with these features.
    pub fn of(
        model: &'a str,
        request: &'a LlmRequest,
        options: &ModelOptions,
        features: RequestFeatures,
    ) -> MessagesRequest<'a> {
        let (mut system, mut messages) = parts(&request.messages);
        let schema = request.schema.as_ref();
        let (mut format, mut tools, mut tool_choice) = (None, None, None);
        match (schema, features.structured) {
            (None, _) => {}
            (Some(schema), Structured::Schema) => {
                format = Some(json!({"type": "json_schema", "schema": schema.schema}));
            }
            (Some(schema), Structured::Json) => {
                let about = "Takes the reply. Everything that there is to say goes into its fields.";
                tools = Some(json!([{"name": schema.name, "description": about, "input_schema": schema.schema}]));
                tool_choice = Some(json!({"type": "tool", "name": schema.name}));
            }
            (Some(schema), Structured::Words) => {
                let first = system.as_mut().or(messages.first_mut().map(|message| &mut message.content));
                if let Some(first) = first {
                    *first = with_schema_in_words(first, schema).into();
                }
            }
        }
        let effort = options.effort.filter(|_| features.effort).map(|effort| match effort {
            Effort::Minimal => Effort::Low.word(),
            effort => effort.word(),
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

/// The instructions at the beginning, and the conversation, which begins with the user.
fn parts(messages: &[Message]) -> (Option<Cow<'_, str>>, Vec<WireMessage<'_>>) {
    let (system, rest) = match messages.split_first() {
        Some((first, rest)) if first.role == Role::System => (Some(Cow::Borrowed(first.content.as_str())), rest),
        _ => (None, messages),
    };
    let role = |role| if role == Role::Assistant { "assistant" } else { "user" };
    let opens = rest.first().is_none_or(|first| first.role == Role::Assistant);
    let opening = opens.then_some(WireMessage { role: "user", content: Cow::Borrowed(OPENING) });
    let rest = rest
        .iter()
        .map(|message| WireMessage { role: role(message.role), content: Cow::Borrowed(message.content.as_str()) });
    (system, opening.into_iter().chain(rest).collect())
}

/// The body of a success; an error can hide in it.
#[derive(Debug, Deserialize)]
pub struct MessageReply {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    stop_details: Option<Value>,
    #[serde(default)]
    usage: Option<WireUsage>,
    /// An error in a success's clothing.
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Block {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    input: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Option<u64>,
}

impl MessageReply {
    /// The model's words, or why there are none. With a schema, the input of the tool that stands for it, or the JSON that
    /// is cut out of the text.
    pub fn words(&self, wants_json: bool) -> Result<String, NoWords> {
        let blocks = self.content.as_ref().ok_or(NoWords::NoChoice)?;
        match self.stop_reason.as_deref() {
            Some("refusal") => {
                let why = self.stop_details.as_ref().and_then(|details| details.get("explanation")?.as_str());
                return Err(NoWords::Refused(why.unwrap_or_default().to_owned()));
            }
            Some("max_tokens" | "model_context_window_exceeded") => return Err(NoWords::Cut),
            _ => {}
        }
        let tool = blocks.iter().find(|block| block.kind == "tool_use").and_then(|block| block.input.as_ref());
        if let Some(input) = tool.filter(|_| wants_json) {
            return Ok(input.to_string());
        }
        let text: String =
            blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref()).collect();
        if text.trim().is_empty() {
            return Err(NoWords::Nothing);
        }
        let cut = wants_json.then(|| repair(&text)).flatten();
        Ok(cut.unwrap_or(text))
    }

    /// What the request cost. Their `input_tokens` are those that the cache had no part in: all three kinds together are
    /// the request, each counted once.
    pub fn usage(&self) -> Usage {
        let Some(usage) = &self.usage else { return Usage::of_call(None, None) };
        let (read, written) = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens);
        let input = usage.input_tokens.map(|input| input + read.unwrap_or(0) + written.unwrap_or(0));
        Usage {
            cached_input_tokens: read,
            reasoning_tokens: usage.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens),
            ..Usage::of_call(input, usage.output_tokens)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: Value) -> MessageReply {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn what_holds_no_words_says_why() {
        let text = json!([{"type": "text", "text": "Hel"}, {"type": "thinking", "thinking": "?"}, {"type": "text", "text": "lo"}]);
        assert_eq!(reply(json!({"content": text, "stop_reason": "end_turn"})).words(false).unwrap(), "Hello");
        for (body, why) in [
            (json!({}), NoWords::NoChoice),
            (json!({"content": []}), NoWords::Nothing),
            (json!({"content": [{"type": "text", "text": " "}]}), NoWords::Nothing),
            (json!({"content": text, "stop_reason": "max_tokens"}), NoWords::Cut),
            (json!({"content": [], "stop_reason": "refusal"}), NoWords::Refused(String::new())),
            (
                json!({"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "No."}}),
                NoWords::Refused("No.".to_owned()),
            ),
        ] {
            assert_eq!(reply(body).words(true), Err(why));
        }
    }

    #[test]
    fn cached_tokens_are_counted_once() {
        let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000, "output_tokens": 5});
        let usage = reply(json!({"usage": usage})).usage();
        assert_eq!(
            (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens),
            (Some(3210), Some(3000), Some(5))
        );
        let usage = reply(json!({"usage": {"input_tokens": 10, "cache_read_input_tokens": null}})).usage();
        assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (Some(10), None, None));
    }
}
