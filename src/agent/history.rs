//! An earlier conversation in the shape of chat completions.

use serde_json::{Value, json};

use crate::evidence::{Message, Role};

/// The messages but those of tools: a result is useless without its call, which nobody kept.
pub(super) fn earlier(history: &[Message]) -> Vec<Value> {
    let spoken = history.iter().filter(|message| message.role != Role::Tool);
    spoken.map(|message| json!({"role": message.role.as_str(), "content": message.content})).collect()
}
