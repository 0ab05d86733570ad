//! One item of a response's output: a message, a call, a hosted tool's work.

use serde_json::{Value, json};

use crate::agent::json::{JsonFields, arguments_of};
use crate::agent::tools::RequestedCall;
use crate::evidence::{Event, EventKind};

fn kind(item: &Value) -> &str {
    text(item, "type")
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.text(key).unwrap_or_default()
}

/// A message's text, or its refusal.
pub(super) fn message_text(item: &Value) -> String {
    if kind(item) != "message" {
        return String::new();
    }
    let parts = item.list("content").iter();
    parts.map(|part| if kind(part) == "refusal" { text(part, "refusal") } else { text(part, "text") }).collect()
}

/// A call of one of the job's functions.
pub(super) fn called(item: &Value) -> Option<RequestedCall> {
    (kind(item) == "function_call").then(|| RequestedCall {
        id: text(item, "call_id").to_owned(),
        name: text(item, "name").to_owned(),
        arguments: text(item, "arguments").to_owned(),
    })
}

/// The events of an item: the work that the endpoint itself did.
pub(super) fn events(item: &Value) -> Vec<Event> {
    match kind(item) {
        // Calls of the job's functions become events when they are answered.
        "message" | "function_call" => Vec::new(),
        "reasoning" if item.list("summary").is_empty() => Vec::new(),
        kind if kind.ends_with("_call") => hosted(kind.trim_end_matches("_call"), item),
        _ => vec![Event::other(item.clone())],
    }
}

/// A hosted tool's call and, where it is shown, its result.
fn hosted(tool: &str, item: &Value) -> Vec<Event> {
    let known = |keys: &[&str]| keys.iter().find_map(|key| item.get(key).filter(|value| !value.is_null()));
    let (function, args) = match tool {
        "mcp" => (text(item, "name"), arguments_of(text(item, "arguments").into())),
        "web_search" => (tool, known(&["action"]).cloned().unwrap_or_else(|| json!({}))),
        "file_search" => (tool, json!({"queries": item["queries"]})),
        "code_interpreter" => (tool, json!({"code": item["code"]})),
        _ => (tool, known(&["action", "input", "arguments"]).cloned().unwrap_or_else(|| json!({}))),
    };
    let call = Event::call(function, args, item.clone());
    let result = known(&["error", "results", "outputs", "output"]);
    let result = result.map(|output| EventKind::FunctionResponse { output: output.clone().into() });
    // The item is kept beside its call, and not once more beside its result.
    [Some(call), result.map(Event::from)].into_iter().flatten().collect()
}
