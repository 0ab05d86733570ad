//! The steps of an agent's work, as trpc-agent-go's execution traces tell them, in a turn's events.

use serde_json::{Value, json};

/// The key of an event that is a step of the agent's work: `{"traceStep": {"node", "input", "output", "tools", "skills"}}`.
pub const TRACE_STEP: &str = "traceStep";

/// The steps of an `executionTrace`, in order, as the data of events.
pub fn trace_steps(trace: &Value) -> impl Iterator<Item = Value> {
    let steps = field(trace, "Steps").and_then(Value::as_array);
    steps.into_iter().flatten().map(step)
}

fn step(step: &Value) -> Value {
    let text = |name: &str| field(step, name).and_then(|it| field(it, "Text")).and_then(Value::as_str);
    let list = |name: &str, keys: &[&str]| -> Vec<Value> {
        let items = field(step, name).and_then(Value::as_array).into_iter().flatten();
        items.map(|item| keys.iter().filter_map(|key| part(item, key)).collect()).collect()
    };
    json!({ TRACE_STEP: {
        "node": field(step, "NodeID").and_then(Value::as_str),
        "input": text("Input"),
        "output": text("Output"),
        "tools": list("Tools", &["id", "name", "arguments", "result", "error"]),
        "skills": list("Skills", &["name"]),
    }})
}

/// A part of a tool's call under its key; `None` where it has none.
fn part(item: &Value, key: &str) -> Option<(String, Value)> {
    let value = field(item, key)?;
    let is_absent = value.is_null() || value.as_str() == Some("");
    (!is_absent).then(|| (key.to_owned(), value.clone()))
}

/// The value of a key, whose case the system ignores.
fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_whatever_the_case_of_their_keys() {
        let trace = json!({"RootAgentName": "a", "steps": [
            {"NodeID": "plan", "Input": {"Text": "q"}, "Output": {"Text": "a"}, "Skills": [{"Name": "s"}],
             "Tools": [{"ID": "1", "Name": "t", "Arguments": {"x": 1}, "Result": null, "Error": ""}]},
            {"nodeId": "b"},
        ]});
        let found: Vec<Value> = trace_steps(&trace).collect();
        assert_eq!(
            found,
            [
                json!({"traceStep": {"node": "plan", "input": "q", "output": "a", "skills": [{"name": "s"}],
                    "tools": [{"id": "1", "name": "t", "arguments": {"x": 1}}]}}),
                json!({"traceStep": {"node": "b", "input": null, "output": null, "skills": [], "tools": []}}),
            ]
        );
        assert_eq!(trace_steps(&Value::Null).count(), 0);
    }
}
