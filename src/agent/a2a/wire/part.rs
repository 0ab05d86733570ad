//! One part of a message or an artifact: text, or an event.
//!
//! A2A itself has no function calls. Google's ADK and trpc-agent-go put them into data parts and say so in the metadata:
//! `adk_type: function_call`, and trpc-agent-go also `type`; thoughts are texts marked `adk_thought`, or `thought`.

use serde_json::{Value, json};

use crate::agent::json::{JsonFields, arguments_of, json_within};
use crate::evidence::Event;

/// The text of a part: data as JSON, a file as its name or address. Thoughts and reported calls have none.
pub(super) fn text(part: &Value) -> Option<String> {
    if is_thought(part) || kind(part).is_some() {
        return None;
    }
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    if let Some(data) = part.get("data") {
        return Some(data.to_string());
    }
    let file = part.get("file").unwrap_or(part);
    let name = ["name", "filename", "uri", "url"].iter().find_map(|key| file.text(key));
    let is_file = ["bytes", "uri", "raw", "url"].iter().any(|key| file.get(*key).is_some());
    is_file.then(|| format!("[file {}]", name.unwrap_or("without a name")))
}

/// The event that a part reports, and the id of its call.
pub(super) fn report(part: &Value) -> Option<(Event, Option<String>)> {
    let kind = kind(part)?;
    // 1.0 had a mapping around it for a while.
    let data = part.get("data")?;
    let data = data.get("data").filter(|inner| inner.is_object()).unwrap_or(data);
    let found = |keys: &[&str]| keys.iter().find_map(|key| data.get(*key)).cloned();
    let event = match kind {
        "function_call" | "tool_call" => {
            let function = ["name", "toolType", "tool_type"].iter().find_map(|key| data.text(key)).unwrap_or_default();
            let args = found(&["args", "arguments", "input"]).map(arguments_of);
            Event::call(function, args.unwrap_or_else(|| json!({})), part.clone())
        }
        "function_response" | "tool_response" => {
            let output = found(&["response", "output", "result"]).map(json_within).unwrap_or_default();
            Event::response(output, part.clone())
        }
        _ => Event::other(part.clone()),
    };
    Some((event, data.text("id").map(str::to_owned)))
}

/// Whether a part reports a call.
pub(super) fn is_call(part: &Value) -> bool {
    matches!(kind(part), Some("function_call" | "tool_call"))
}

fn is_thought(part: &Value) -> bool {
    marks(part, "thought").any(|mark| mark == &Value::Bool(true))
}

/// The kind of event that a data part is marked as, by ADK's marks.
fn kind(part: &Value) -> Option<&str> {
    const KINDS: [&str; 6] = [
        "function_call",
        "function_response",
        "tool_call",
        "tool_response",
        "executable_code",
        "code_execution_result",
    ];
    part.get("data")?;
    marks(part, "type").filter_map(Value::as_str).find(|kind| KINDS.contains(kind))
}

fn marks<'a>(part: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let metadata = part.get("metadata");
    let own = metadata.and_then(|metadata| metadata.get(format!("adk_{key}")));
    own.into_iter().chain(metadata.and_then(|metadata| metadata.get(key)))
}
