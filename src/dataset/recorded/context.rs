//! What an agent of ADK's had before it in a recorded turn: its developers' instructions, its tools, and what grounds its reply.

use serde_json::{Map, Value};

use crate::evidence::TurnContext;

/// The texts of a turn's `app_details` and `invocation_events`.
pub(super) fn texts(extra: &Map<String, Value>) -> Vec<TurnContext> {
    let mut texts = Vec::new();
    let details = extra.get("app_details").and_then(|app| either(app, "agent_details", "agentDetails"));
    for (name, agent) in details.and_then(Value::as_object).into_iter().flatten() {
        let instructions = agent.get("instructions").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        texts.extend(instructions.map(|text| context(format!("instructions of {name}"), text.to_owned())));
        let tools = either(agent, "tool_declarations", "toolDeclarations").filter(|tools| !is_empty(tools));
        texts.extend(tools.map(|tools| context(format!("tools of {name}"), tools.to_string())));
    }
    let events = extra.get("invocationEvents").and_then(Value::as_array).into_iter().flatten();
    let grounding = events.filter_map(|event| either(event, "grounding_metadata", "groundingMetadata"));
    texts.extend(
        grounding.filter(|it| !is_empty(it)).map(|it| context("grounding metadata".to_owned(), it.to_string())),
    );
    texts
}

fn context(name: String, text: String) -> TurnContext {
    TurnContext { name, text }
}

/// The value of a key in snake_case or camelCase.
fn either<'v>(value: &'v Value, snake: &str, camel: &str) -> Option<&'v Value> {
    value.get(snake).or_else(|| value.get(camel))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}
