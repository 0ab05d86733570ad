//! Messages of either side; in older files a content.

use serde_json::{Map, Value};

use super::{KEYS, UNKNOWN};
use crate::dataset::adk;
use crate::dataset::cursor::Cursor;
use crate::dataset::model::ContextMessage;

/// The parts of a message beside its role and text.
const BESIDE_TEXT: [&str; 6] =
    ["content_parts", "tool_id", "tool_name", "tool_calls", "reasoning_content", "reasoning_signature"];

/// Reads a message, or the content of an older file.
pub(super) fn read_message(value: Cursor<'_>) -> ContextMessage {
    let mut message = ContextMessage::default();
    if value.node.has_value("parts") {
        let content = adk::read_content(value);
        message.role = value.node.get("role").and_then(|role| role.text()).unwrap_or_default().to_owned();
        message.content = content.texts.join("\n");
        if !content.others.is_empty() {
            message.extra.insert("parts".to_owned(), Value::Array(content.others));
        }
        return message;
    }
    if let Some(text) = value.node.text() {
        value.warn("a message is an object with `role` and `content`; this text is taken for its content");
        message.content = text.to_owned();
        return message;
    }
    let Some(mut fields) = value.fields(KEYS) else { return message };
    // Null it is here.
    fields.get("parts");
    message.role = fields.text("role").unwrap_or_default();
    message.content = fields.text("content").unwrap_or_default();
    for name in BESIDE_TEXT {
        if let Some(value) = fields.get(name) {
            message.extra.insert(name.to_owned(), value.json());
        }
    }
    if message.content.is_empty() {
        message.content = text_of_parts(&message.extra);
    }
    message.extra.extend(fields.rest(UNKNOWN));
    message
}

/// The texts of a message whose content is in parts.
fn text_of_parts(extra: &Map<String, Value>) -> String {
    let parts = extra.get("content_parts").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
}

/// Reads a list of messages.
pub(super) fn read_messages(values: Vec<Cursor<'_>>) -> Vec<ContextMessage> {
    values.into_iter().filter(|value| !value.is_null()).map(read_message).collect()
}
