//! The shape of a chat completion, which OpenAI gave the world and others speak: their JSON → our reply. As in OpenAI's
//! API reference, "The chat completion object"; reading tolerates what other endpoints leave out or add.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, NoWords, ParsedResponse, repair};
use crate::evidence::Usage;

/// The body of a success; an error can hide in it.
#[derive(Debug, Deserialize)]
pub struct CompletionReply {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    /// Gateways put an error of the model behind them here.
    #[serde(default)]
    error: Option<Value>,
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
            Some("content_filter") => return Err(NoWords::Filtered(String::new())),
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
        let Some(usage) = &self.usage else { return Usage::of_call(None, None) };
        Usage {
            cached_input_tokens: usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens),
            reasoning_tokens: usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens),
            ..Usage::of_call(usage.prompt_tokens, usage.completion_tokens)
        }
    }

    /// What it says: words, none, or an error in a success's clothing.
    pub fn parse_response(&self, wants_json: bool) -> ParsedResponse {
        match self.error.as_ref().filter(|error| !error.is_null()) {
            Some(error) => ParsedResponse::Error(ApiError::of_value(error)),
            None => ParsedResponse::of(self.words(wants_json), self.usage()),
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
            (
                choice(json!({"message": {"content": ""}, "finish_reason": "content_filter"})),
                NoWords::Filtered(String::new()),
            ),
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
        assert_eq!(reply(json!({})).usage(), Usage { calls: 1, unreported_calls: 1, ..Usage::default() });
        let usage = reply(json!({"usage": {"prompt_tokens": 10, "prompt_tokens_details": null}})).usage();
        assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (Some(10), None, None));
    }
}
