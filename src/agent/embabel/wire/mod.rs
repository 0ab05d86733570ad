//! The protocol's bodies ↔ our types. Both directions: the client sends requests and reads replies, the demo agent does
//! the reverse.
//!
//! Reading tolerates unknown fields, missing optional ones and `null` in their place.

mod event;
mod object_context;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use event::parse_event;
pub use object_context::parse_object_context;

use super::KnowledgeConfig;
use crate::evidence::{Event, Role};

/// The body of `PUT …/sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRequest {
    /// The user.
    pub user: String,
    /// The chatbot, one of the server's.
    pub chatbot: String,
}

/// The reply to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionReply {
    /// The new session's id; some servers count instead of naming.
    #[serde(default, deserialize_with = "text_or_number")]
    pub session_id: String,
}

/// The body of `PUT …/messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRequest {
    /// The session that the message belongs to.
    #[serde(default, deserialize_with = "text_or_number")]
    pub session_id: String,
    /// The message.
    pub message: WireMessage,
    /// The model that the agent is asked to use.
    #[serde(default, deserialize_with = "or_default")]
    pub model: String,
}

impl MessageRequest {
    /// A user's message in a session.
    pub fn from_user(session_id: &str, content: &str, model: &str) -> MessageRequest {
        let message = WireMessage { content: content.to_owned(), role: Role::User.as_str().to_owned() };
        MessageRequest { session_id: session_id.to_owned(), message, model: model.to_owned() }
    }
}

/// One message, in requests, replies and histories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireMessage {
    /// The text.
    #[serde(default, deserialize_with = "or_default")]
    pub content: String,
    /// `user`, `assistant`, `system` or `tool`.
    #[serde(default, deserialize_with = "or_default")]
    pub role: String,
}

/// The reply to a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageReply {
    /// The session.
    #[serde(default, deserialize_with = "text_or_number")]
    pub session_id: String,
    /// The chatbot that answered.
    #[serde(default, deserialize_with = "or_default")]
    pub chatbot: String,
    /// Its answer.
    #[serde(default, deserialize_with = "or_default")]
    pub message: WireMessage,
    /// The conversation so far. It is not used: the turns have it.
    #[serde(default, deserialize_with = "or_default")]
    pub history: Vec<WireMessage>,
    /// The events, distinguished by their shape.
    #[serde(default, deserialize_with = "or_default")]
    pub events: Vec<Value>,
}

impl MessageReply {
    /// The events as ours.
    pub fn events(&self) -> Vec<Event> {
        self.events.iter().cloned().map(parse_event).collect()
    }
}

/// The body of `PUT /api/v1/graphs` of the knowledge-graph service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeRequest {
    /// The context's name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The schema of the graph.
    pub schema_name: String,
    /// Its id.
    pub id: String,
}

impl KnowledgeRequest {
    /// The request, with the protocol's defaults filled in.
    pub fn new(config: &KnowledgeConfig) -> KnowledgeRequest {
        KnowledgeRequest {
            name: config.name.clone(),
            description: config.description.clone(),
            schema_name: config.schema_name.clone().unwrap_or_else(|| KnowledgeConfig::SCHEMA.to_owned()),
            id: config.id.clone().unwrap_or_else(|| config.name.clone()),
        }
    }
}

/// `null` reads like a missing field.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An id: text, or a number as its digits; anything else is none.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{EventKind, ToolCall};

    #[test]
    fn requests_have_exactly_the_protocols_bytes() {
        let session = SessionRequest { user: "ann".to_owned(), chatbot: "helper".to_owned() };
        assert_eq!(serde_json::to_string(&session).unwrap(), r#"{"user":"ann","chatbot":"helper"}"#);
        assert_eq!(
            serde_json::to_string(&MessageRequest::from_user("s-1", "Hi \"there\"", "gpt-4.1-mini")).unwrap(),
            r#"{"sessionId":"s-1","message":{"content":"Hi \"there\"","role":"user"},"model":"gpt-4.1-mini"}"#
        );
        let knowledge = KnowledgeConfig {
            name: "memory".to_owned(),
            description: "earlier conversations".to_owned(),
            schema_name: None,
            id: None,
            base_url: None,
            api_key: None,
        };
        assert_eq!(
            serde_json::to_string(&KnowledgeRequest::new(&knowledge)).unwrap(),
            r#"{"name":"memory","description":"earlier conversations","schemaName":"personal","id":"memory"}"#
        );
    }

    #[test]
    fn a_full_reply_is_read() {
        let reply: MessageReply = serde_json::from_value(json!({
            "sessionId": "s-1",
            "chatbot": "helper",
            "message": {"content": "Done.", "role": "assistant"},
            "history": [{"content": "Hi", "role": "user"}, {"content": "Done.", "role": "assistant"}],
            "events": [
                {"systemPrompt": "You are kind."},
                {"request": {"function": {"name": "remind"}, "arguments": {"at": "17:00"}, "context": {}}},
                {"output": "ok"}
            ]
        }))
        .unwrap();
        assert_eq!(reply.message.content, "Done.");
        assert_eq!(
            reply.events().into_iter().map(|event| event.kind).collect::<Vec<_>>(),
            [
                EventKind::SystemPrompt { text: "You are kind.".to_owned() },
                EventKind::FunctionCall(ToolCall {
                    function: "remind".to_owned(),
                    args: json!({"at": "17:00"}).into()
                }),
                EventKind::FunctionResponse { output: json!("ok").into() },
            ]
        );
    }

    #[test]
    fn what_is_optional_can_be_missing_or_null_and_what_is_unknown_is_skipped() {
        for body in [
            json!({"message": {"content": "Hello"}}),
            json!({"message": {"content": "Hello", "role": null, "id": 5}, "sessionId": null, "chatbot": null,
                   "history": null, "events": null, "tookMillis": 12}),
        ] {
            let reply: MessageReply = serde_json::from_value(body).unwrap();
            assert_eq!(reply.message.content, "Hello");
            assert_eq!(reply.events(), []);
        }
        let silent: MessageReply = serde_json::from_value(json!({"message": null})).unwrap();
        assert_eq!(silent.message.content, "");
    }

    #[test]
    fn a_session_id_may_be_a_number() {
        for (body, id) in [
            (json!({"sessionId": "a"}), "a"),
            (json!({"sessionId": 17}), "17"),
            (json!({"sessionId": null}), ""),
            (json!({}), ""),
        ] {
            assert_eq!(serde_json::from_value::<SessionReply>(body).unwrap().session_id, id);
        }
    }
}
