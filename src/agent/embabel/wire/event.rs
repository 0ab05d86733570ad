//! Reads events, which differ only in their shape.

use serde_json::{Map, Value};

use crate::agent::json::arguments_of;
use crate::evidence::{Event, EventKind, ToolCall};

/// Reads an event by its shape; one of no known shape is kept as it came.
pub fn parse_event(data: Value) -> Event {
    match read(&data) {
        Some(kind) => Event::with_raw(kind, data),
        None => EventKind::Other { data }.into(),
    }
}

fn read(data: &Value) -> Option<EventKind> {
    let fields = data.as_object()?;
    // The most specific shape first: `content` is the field that other kinds are most likely to have as well.
    system_prompt(fields)
        .or_else(|| function_call(fields))
        .or_else(|| fields.get("output").map(|output| EventKind::FunctionResponse { output: output.clone().into() }))
        .or_else(|| graph_request(fields))
}

fn system_prompt(fields: &Map<String, Value>) -> Option<EventKind> {
    Some(EventKind::SystemPrompt { text: text(fields, "systemPrompt")? })
}

fn function_call(fields: &Map<String, Value>) -> Option<EventKind> {
    let request = fields.get("request")?;
    let function = request.pointer("/function/name")?.as_str()?.to_owned();
    let args = request.get("arguments").or_else(|| request.pointer("/function/arguments")).cloned();
    Some(EventKind::FunctionCall(ToolCall { function, args: args.map(arguments_of).unwrap_or_default().into() }))
}

fn graph_request(fields: &Map<String, Value>) -> Option<EventKind> {
    let content = text(fields, "content")?;
    Some(EventKind::GraphRequest { content, summary_direction: text(fields, "summaryDirection") })
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_shape_is_its_kind() {
        for (data, event) in [
            (json!({"systemPrompt": "Be kind."}), EventKind::SystemPrompt { text: "Be kind.".to_owned() }),
            (
                json!({"content": "who is Ann?", "at": 5}),
                EventKind::GraphRequest { content: "who is Ann?".to_owned(), summary_direction: None },
            ),
            (
                json!({"content": "who?", "summaryDirection": "short"}),
                EventKind::GraphRequest { content: "who?".to_owned(), summary_direction: Some("short".to_owned()) },
            ),
            (
                json!({"content": "who?", "summaryDirection": null}),
                EventKind::GraphRequest { content: "who?".to_owned(), summary_direction: None },
            ),
            (
                json!({"request": {"function": {"name": "f", "label": "X"}, "arguments": {"a": 1}, "context": {}}}),
                EventKind::FunctionCall(ToolCall { function: "f".to_owned(), args: json!({"a": 1}).into() }),
            ),
            (
                json!({"request": {"function": {"name": "f"}}}),
                EventKind::FunctionCall(ToolCall { function: "f".to_owned(), args: Value::Null.into() }),
            ),
            (
                json!({"request": {"function": {"name": "f"}, "arguments": "{\"a\":1}"}}),
                EventKind::FunctionCall(ToolCall { function: "f".to_owned(), args: json!({"a": 1}).into() }),
            ),
            (json!({"output": {"id": 3}}), EventKind::FunctionResponse { output: json!({"id": 3}).into() }),
            (json!({"output": null}), EventKind::FunctionResponse { output: Value::Null.into() }),
        ] {
            let read = parse_event(data.clone());
            assert_eq!(read.kind, event);
            assert_eq!(read.raw, (data != event.to_json()).then_some(data));
        }
    }

    #[test]
    fn what_no_kind_has_a_place_for_is_kept_beside_it() {
        let data = json!({"request": {"function": {"name": "f"}, "arguments": {}, "context": {"x": 1}}, "id": 3});
        let shown = parse_event(data.clone()).to_json();
        assert_eq!(shown, data);
    }

    #[test]
    fn what_has_no_known_shape_is_kept_as_it_came() {
        for data in [json!({"request": {"function": {}}}), json!({"content": 5}), json!([1]), json!("x"), Value::Null] {
            assert_eq!(parse_event(data.clone()), EventKind::Other { data }.into());
        }
    }

    proptest! {
        #[test]
        fn what_we_write_we_read(content in ".*", direction in proptest::option::of(".*"), number: i64) {
            for event in [
                EventKind::SystemPrompt { text: content.clone() },
                EventKind::GraphRequest { content: content.clone(), summary_direction: direction },
                EventKind::FunctionCall(ToolCall { function: content.clone(), args: json!({"n": number}).into() }),
                EventKind::FunctionResponse { output: json!([content, number]).into() },
                EventKind::Other { data: json!({"other": number}) },
            ] {
                prop_assert_eq!(parse_event(event.to_json()), event.into());
            }
        }
    }
}
