//! Events that may be calls in a shape that is not understood.

use serde_json::{Map, Value};

use super::{Event, EventKind};

/// The keys that say what kind of event one is.
const KINDS: [&str; 3] = ["type", "kind", "event"];

/// The kinds of events that are no calls.
const NO_CALLS: [&str; 26] = [
    "answer",
    "citation",
    "citations",
    "delta",
    "done",
    "end",
    "error",
    "heartbeat",
    "log",
    "message",
    "metadata",
    "metrics",
    "ping",
    "progress",
    "reasoning",
    "retrieval",
    "source",
    "sources",
    "start",
    "state",
    "status",
    "text",
    "thinking",
    "thought",
    "trace",
    "usage",
];

/// The keys that name what is called.
const NAMES: [&str; 8] =
    ["name", "function", "tool", "toolName", "tool_name", "functionName", "function_name", "action"];

impl Event {
    /// Whether it is of no known kind and may be a call all the same: an object that names a tool, or that has a text beside a mapping.
    /// One whose type says that it is no call is none.
    pub fn may_be_unread_call(&self) -> bool {
        match &self.kind {
            EventKind::Other { data: Value::Object(fields) } => !is_of_other_kind(fields) && looks_like_call(fields),
            _ => false,
        }
    }
}

fn is_of_other_kind(fields: &Map<String, Value>) -> bool {
    let kind = KINDS.iter().find_map(|key| fields.get(*key)?.as_str());
    kind.is_some_and(|kind| NO_CALLS.contains(&kind.to_lowercase().as_str()))
}

fn looks_like_call(fields: &Map<String, Value>) -> bool {
    let names_tool = NAMES.iter().any(|key| fields.get(*key).is_some_and(Value::is_string));
    names_tool || (fields.values().any(Value::is_string) && fields.values().any(Value::is_object))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_that_may_be_a_call_is_told_from_a_report_of_another_kind() {
        for call in [
            json!({"step": "place_order", "payload": {"size": "large"}}),
            json!({"toolName": "place_order", "inputs": "{}"}),
            json!({"name": "cancel_order"}),
            json!({"event": "on_tool_start", "data": {"input": {}}}),
        ] {
            assert!(Event::other(call.clone()).may_be_unread_call(), "{call}");
        }
        for report in [
            json!({"type": "thinking", "content": {"text": "well"}}),
            json!({"status": "searching"}),
            json!({"type": "usage", "data": {"input": 3}}),
            json!("a line of a log"),
            json!({"documents": [{"title": "Menu"}]}),
        ] {
            assert!(!Event::other(report.clone()).may_be_unread_call(), "{report}");
        }
        assert!(!Event::response(json!("ok"), json!({"result": "ok"})).may_be_unread_call());
        assert!(!Event::call("f", json!({}), json!({"name": "f", "args": {}})).may_be_unread_call());
    }
}
