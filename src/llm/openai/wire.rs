//! Chat completions: our request → their JSON, their JSON → our reply. Shapes as in OpenAI's API reference, "Create chat
//! completion"; reading tolerates what other endpoints leave out or add.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::{Message, ReplySchema, Role, Usage};
use crate::llm::structured::{Structured, with_schema_in_words};
use crate::llm::{LlmRequest, repair};

/// The body of `POST /chat/completions`; the order of the fields is the order of the bytes.
#[derive(Debug, Serialize)]
pub struct CompletionRequest<'a> {
    model: &'a str,
    messages: Vec<WireMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Debug, Serialize)]
struct WireMessage {
    role: &'static str,
    content: String,
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

fn in_words(request: &LlmRequest, schema: &ReplySchema) -> Vec<WireMessage> {
    wire_messages(&with_schema_in_words(&request.messages, schema))
}

fn wire_messages(messages: &[Message]) -> Vec<WireMessage> {
    messages
        .iter()
        .map(|message| WireMessage { role: wire_role(message.role), content: message.content.clone() })
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

/// What an endpoint says about a failure, from `{"error": {…}}`, `{"error": "…"}`, `{"message": …}` or `{"detail": …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireError {
    /// Its words.
    pub message: String,
    /// `insufficient_quota`, `model_not_found`, …; or a status as text.
    pub code: String,
    /// A wider class.
    pub kind: String,
    /// The field of the request that it concerns.
    pub param: String,
}

impl WireError {
    /// Reads an error body; whatever is not there is empty.
    pub fn of_body(body: &[u8]) -> WireError {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some gateways wrap the object into a list.
        let body = body.get(0).unwrap_or(&body);
        WireError::of_value(body.get("error").filter(|error| !error.is_null()).unwrap_or(body))
    }

    /// Reads an error object, or a bare sentence.
    pub fn of_value(error: &Value) -> WireError {
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let message = error.as_str().map_or_else(|| text("message"), str::to_owned);
        let message = if message.is_empty() { text("detail") } else { message };
        WireError { message, code: text("code"), kind: text("type"), param: text("param") }
    }

    /// Whether it concerns the way in which JSON was asked for.
    pub fn concerns_structure(&self) -> bool {
        const WORDS: [&str; 6] =
            ["response format", "json schema", "json object", "structured output", "guided", "schema"];
        self.mentions(&WORDS)
    }

    /// Whether it concerns the temperature.
    pub fn concerns_temperature(&self) -> bool {
        self.mentions(&["temperature"])
    }

    /// Whether the account has run dry, which no waiting mends.
    pub fn out_of_money(&self) -> bool {
        [&self.code, &self.kind].into_iter().any(|word| word == "insufficient_quota" || word == "billing_not_active")
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let plain = format!("{} {} {}", self.param, self.code, self.message).to_lowercase().replace(['_', '-'], " ");
        words.iter().any(|word| plain.contains(word))
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

    #[test]
    fn errors_are_read_in_each_of_their_shapes() {
        let full = br#"{"error":{"message":"No.","type":"t","param":"temperature","code":429}}"#;
        let error = WireError::of_body(full);
        assert_eq!((error.message.as_str(), error.kind.as_str(), error.code.as_str()), ("No.", "t", "429"));
        assert!(error.concerns_temperature());
        for body in [
            &br#"{"error":"No."}"#[..],
            br#"{"message":"No."}"#,
            br#"{"detail":"No."}"#,
            br#"[{"error":{"message":"No."}}]"#,
        ] {
            assert_eq!(WireError::of_body(body), WireError { message: "No.".to_owned(), ..WireError::default() });
        }
        for body in [&b""[..], b"<html>", b"[]", b"null", b"5"] {
            assert_eq!(WireError::of_body(body), WireError::default());
        }
    }

    #[test]
    fn a_refused_way_of_asking_for_json_is_recognised_in_many_words() {
        for message in [
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "This model does not support response format `json_schema`.",
            "'response_format.type' must be 'json_schema' or 'text'",
            "This response_format type is unavailable now",
            "Structured Outputs are not supported",
        ] {
            let body = json!({"error": {"message": message}}).to_string();
            assert!(WireError::of_body(body.as_bytes()).concerns_structure(), "{message}");
        }
        assert!(!WireError::of_body(br#"{"error":{"message":"The prompt is too long."}}"#).concerns_structure());
    }
}
