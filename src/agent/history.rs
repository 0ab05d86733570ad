//! An earlier conversation in the shape of chat completions.

use serde_json::{Value, json};

use crate::evidence::{Message, Role};

/// The messages without those of tools: a result is useless without its call, which was not kept.
pub(super) fn earlier(history: &[Message]) -> Vec<Value> {
    let messages = history.iter().filter(|message| message.role != Role::Tool);
    messages.map(|message| json!({"role": message.role.as_str(), "content": message.content})).collect()
}
