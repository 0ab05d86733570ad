//! Lists of tools, as the systems in use write them.

use std::collections::BTreeSet;

use serde_json::Value;

/// A list of tools that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// Neither JSON nor YAML.
    #[error("it is neither JSON nor YAML: {0}")]
    Unreadable(String),
    /// Nothing in it is a tool.
    #[error(
        "there are no tools in it; looked for MCP's `tools`, OpenAI's `function`, Gemini's `functionDeclarations`, \
         `functions`, an A2A card's `skills`, OpenAPI's `paths`, and a list of names"
    )]
    NoTools,
}

/// The methods of an OpenAPI path; its other keys are no operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// The names of the tools in a text: an A2A agent card, an OpenAPI document, MCP's list of tools, OpenAI's or Gemini's
/// declarations, an object context, or a list of names, as JSON or YAML.
///
/// # Errors
/// When it can't be read, or holds none.
pub fn tools_in(text: &str) -> Result<BTreeSet<String>, ToolsError> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(json) => serde_saphyr::from_str(text).map_err(|yaml| {
            let is_json = text.trim_start().starts_with(['{', '[']);
            ToolsError::Unreadable(if is_json { json.to_string() } else { yaml.to_string() })
        })?,
    };
    let mut names = BTreeSet::new();
    collect(&document, &mut names);
    if names.is_empty() { Err(ToolsError::NoTools) } else { Ok(names) }
}

fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_tool(item, names)),
        Value::Object(document) => {
            // An answer of JSON-RPC.
            document.get("result").into_iter().for_each(|result| collect(result, names));
            for list in ["tools", "functions", "functionDeclarations", "function_declarations", "skills"] {
                let items = document.get(list).and_then(Value::as_array);
                items.into_iter().flatten().for_each(|item| collect_tool(item, names));
            }
            let paths = document.get("paths").and_then(Value::as_object);
            for (path, operations) in paths.into_iter().flatten() {
                let operations = operations.as_object().into_iter().flatten();
                for (method, operation) in operations.filter(|(method, _)| METHODS.contains(&method.as_str())) {
                    let id = operation.get("operationId").and_then(Value::as_str).map(str::to_owned);
                    names.insert(id.unwrap_or_else(|| format!("{} {path}", method.to_uppercase())));
                }
            }
        }
        _ => {}
    }
}

fn collect_tool(item: &Value, names: &mut BTreeSet<String>) {
    if let Value::String(name) = item {
        names.insert(name.clone());
        return;
    }
    let declarations = |key| item.get(key).filter(|it: &&Value| it.is_array());
    if let Some(several) = declarations("functionDeclarations").or(declarations("function_declarations")) {
        return collect(several, names);
    }
    // OpenAI's older shape has the function inside; an A2A skill is called by its id.
    let tool = item.get("function").unwrap_or(item);
    let is_skill = item.get("tags").is_some() || item.get("inputModes").is_some();
    let keys = if is_skill { ["id", "name"] } else { ["name", "id"] };
    let name = keys.into_iter().find_map(|key| tool.get(key)?.as_str());
    names.extend(name.filter(|name| !name.trim().is_empty()).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_read_from_what_the_systems_write() {
        for (text, expected) in [
            (r#"["a", "b"]"#, "a b"),
            ("- a\n- name: b\n", "a b"),
            (r#"{"tools": [{"name": "a", "inputSchema": {}}]}"#, "a"),
            (r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}, {"name": "b"}]}}"#, "a b"),
            (r#"[{"type": "function", "function": {"name": "a"}}, {"type": "function", "name": "b"}]"#, "a b"),
            (
                r#"{"tools": [{"functionDeclarations": [{"name": "a"}]}, {"function_declarations": [{"name": "b"}]}]}"#,
                "a b",
            ),
            (r#"{"name": "agent", "skills": [{"id": "a", "name": "An a", "tags": []}]}"#, "a"),
            (r#"{"resources": [], "functions": [{"name": "a", "staticMethod": true}]}"#, "a"),
            (
                "openapi: 3.1.0\npaths:\n  /x/{id}:\n    parameters: []\n    get: {operationId: a}\n    post: {}\n",
                "POST /x/{id} a",
            ),
        ] {
            let tools = tools_in(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(tools.into_iter().collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn what_holds_no_tools_is_refused() {
        for text in ["{}", "[]", "null", "name: agent", r#"{"tools": {}}"#, r#"[{"name": " "}]"#] {
            assert_eq!(tools_in(text), Err(ToolsError::NoTools), "{text}");
        }
        for text in ["{\"tools\": [", "a: [b"] {
            assert!(matches!(tools_in(text), Err(ToolsError::Unreadable(_))), "{text}");
        }
    }
}
