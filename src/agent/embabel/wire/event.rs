//! Events, which nothing but their shape tells apart.

use serde_json::{Map, Value, json};

use crate::evidence::{Event, ToolCall};

/// Reads an event by its shape; one of no known shape is kept as it came.
pub fn event_of(data: Value) -> Event {
    read(&data).unwrap_or(Event::Other { data })
}

fn read(data: &Value) -> Option<Event> {
    let fields = data.as_object()?;
    // The most telling shape first: `content` is the field that another kind would most likely have as well.
    system_prompt(fields)
        .or_else(|| function_call(fields))
        .or_else(|| fields.get("output").map(|output| Event::FunctionResponse { output: output.clone() }))
        .or_else(|| graph_request(fields))
}

fn system_prompt(fields: &Map<String, Value>) -> Option<Event> {
    Some(Event::SystemPrompt { text: text(fields, "systemPrompt")? })
}

fn function_call(fields: &Map<String, Value>) -> Option<Event> {
    let request = fields.get("request")?;
    let function = request.pointer("/function/name")?.as_str()?.to_owned();
    let args = request.get("arguments").cloned().unwrap_or_default();
    Some(Event::FunctionCall(ToolCall { function, args }))
}

fn graph_request(fields: &Map<String, Value>) -> Option<Event> {
    let content = text(fields, "content")?;
    Some(Event::GraphRequest { content, summary_direction: text(fields, "summaryDirection") })
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}

/// An event in the protocol's shape.
pub fn event_to(event: &Event) -> Value {
    match event {
        Event::SystemPrompt { text } => json!({"systemPrompt": text}),
        Event::GraphRequest { content, summary_direction: None } => json!({"content": content}),
        Event::GraphRequest { content, summary_direction: Some(direction) } => {
            json!({"content": content, "summaryDirection": direction})
        }
        Event::FunctionCall(call) => {
            json!({"request": {"function": {"name": call.function}, "arguments": call.args}})
        }
        Event::FunctionResponse { output } => json!({"output": output}),
        Event::Other { data } => data.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_shape_is_its_kind() {
        for (data, event) in [
            (json!({"systemPrompt": "Be kind."}), Event::SystemPrompt { text: "Be kind.".to_owned() }),
            (
                json!({"content": "who is Ann?", "at": 5}),
                Event::GraphRequest { content: "who is Ann?".to_owned(), summary_direction: None },
            ),
            (
                json!({"content": "who?", "summaryDirection": "short"}),
                Event::GraphRequest { content: "who?".to_owned(), summary_direction: Some("short".to_owned()) },
            ),
            (
                json!({"content": "who?", "summaryDirection": null}),
                Event::GraphRequest { content: "who?".to_owned(), summary_direction: None },
            ),
            (
                json!({"request": {"function": {"name": "f", "label": "X"}, "arguments": {"a": 1}, "context": {}}}),
                Event::FunctionCall(ToolCall { function: "f".to_owned(), args: json!({"a": 1}) }),
            ),
            (
                json!({"request": {"function": {"name": "f"}}}),
                Event::FunctionCall(ToolCall { function: "f".to_owned(), args: Value::Null }),
            ),
            (json!({"output": {"id": 3}}), Event::FunctionResponse { output: json!({"id": 3}) }),
            (json!({"output": null}), Event::FunctionResponse { output: Value::Null }),
        ] {
            assert_eq!(event_of(data), event);
        }
    }

    #[test]
    fn what_has_no_known_shape_is_kept_as_it_came() {
        for data in [json!({"request": {"function": {}}}), json!({"content": 5}), json!([1]), json!("x"), Value::Null] {
            assert_eq!(event_of(data.clone()), Event::Other { data });
        }
    }

    proptest! {
        #[test]
        fn what_we_write_we_read(content in ".*", direction in proptest::option::of(".*"), number: i64) {
            for event in [
                Event::SystemPrompt { text: content.clone() },
                Event::GraphRequest { content: content.clone(), summary_direction: direction },
                Event::FunctionCall(ToolCall { function: content.clone(), args: json!({"n": number}) }),
                Event::FunctionResponse { output: json!([content, number]) },
                Event::Other { data: json!({"other": number}) },
            ] {
                prop_assert_eq!(event_of(event_to(&event)), event);
            }
        }
    }
}
