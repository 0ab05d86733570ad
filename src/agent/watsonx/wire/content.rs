//! The text of an assistant's message, widgets included.

use crate::text::is_blank;
use serde_json::Value;

/// The text of a content item; empty where it has none.
pub(super) fn text(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !is_blank(text));
    match kind(item) {
        "text" | "conversational_search" => item.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => {
            let mut lines: Vec<String> = Vec::new();
            for line in [text("title"), text("description"), text("text")].into_iter().flatten() {
                if !lines.iter().any(|known| known == line) {
                    lines.push(line.to_owned());
                }
            }
            lines.extend(labels(item).map(|label| format!("- {label}")));
            lines.join("\n")
        }
    }
}

/// Whether an item is more than text, so that it is kept as an event too.
pub(super) fn has_more_than_text(item: &Value) -> bool {
    kind(item) != "text"
}

fn kind(item: &Value) -> &str {
    item.get("response_type").and_then(Value::as_str).unwrap_or("text")
}

/// The labels of options, and of a form's fields.
fn labels(item: &Value) -> impl Iterator<Item = String> {
    let lists = ["options", "fields", "inputs", "elements"].into_iter().filter_map(|key| item.get(key)?.as_array());
    lists.flatten().filter_map(|entry| {
        let named = ["label", "title", "name", "description"].into_iter().find_map(|key| entry.get(key)?.as_str());
        named.or_else(|| entry.get("value")?.as_str()).or_else(|| entry.as_str()).map(str::to_owned)
    })
}
