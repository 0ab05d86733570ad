//! An earlier conversation, as chat completions and their kin are told it.

use serde_json::{Value, json};

use crate::evidence::{Message, Role};

/// What user, model and instructions said. The result of a tool says nothing without its call, which nobody kept.
pub(super) fn earlier(history: &[Message]) -> Vec<Value> {
    let spoken = history.iter().filter(|message| message.role != Role::Tool);
    spoken.map(|message| json!({"role": message.role.as_str(), "content": message.content})).collect()
}
