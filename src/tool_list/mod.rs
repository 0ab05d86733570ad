//! Lists of tools as the systems in use write them: an A2A agent card, an OpenAPI document, MCP's list of tools, OpenAI's or
//! Gemini's declarations, watsonx Orchestrate's tools, an object context, functions in Python, or a list of names. In comes
//! the text of a file; out come its [`Tool`]s, each with what is known of its arguments. Pure.

mod openapi;
mod python;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A tool of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// The JSON Schema of each argument, as far as it is known.
    pub arguments: Map<String, Value>,
    /// The arguments that every call has.
    pub required: BTreeSet<String>,
}

/// A list of tools that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// Neither JSON nor YAML, nor functions in Python.
    #[error("it is neither JSON nor YAML: {0}")]
    Unreadable(String),
    /// It holds no tools.
    #[error(
        "there are no tools in it; looked for MCP's `tools`, OpenAI's `function`, Gemini's `functionDeclarations`, \
         `functions`, an A2A card's `skills`, OpenAPI's `paths`, a tool with `input_schema`, functions in Python (`def`), \
         and a list of names"
    )]
    NoTools,
}

/// The tools in a text, in its order; of two with the same name the first.
///
/// # Errors
/// When it can't be read, or holds none.
pub fn read_tools(text: &str) -> Result<Vec<Tool>, ToolsError> {
    let mut tools = Vec::new();
    if python::is_python(text) {
        tools = python::read(text);
    } else {
        collect(&document(text)?, &mut tools);
    }
    let mut names = BTreeSet::new();
    tools.retain(|tool| !tool.name.trim().is_empty() && names.insert(tool.name.clone()));
    if tools.is_empty() { Err(ToolsError::NoTools) } else { Ok(tools) }
}

fn document(text: &str) -> Result<Value, ToolsError> {
    serde_json::from_str(text).or_else(|json| {
        serde_saphyr::from_str(text).map_err(|yaml| {
            let is_json = text.trim_start().starts_with(['{', '[']);
            ToolsError::Unreadable(if is_json { json.to_string() } else { yaml.to_string() })
        })
    })
}

/// The keys below which a tool says what it takes.
const SCHEMAS: [&str; 6] =
    ["inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema", "args_schema"];

fn collect(value: &Value, tools: &mut Vec<Tool>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_tool(item, tools)),
        Value::Object(document) => {
            // An answer of JSON-RPC.
            document.get("result").into_iter().for_each(|result| collect(result, tools));
            for list in ["tools", "functions", "functionDeclarations", "function_declarations", "skills"] {
                let items = document.get(list).and_then(Value::as_array);
                items.into_iter().flatten().for_each(|item| collect_tool(item, tools));
            }
            tools.extend(openapi::read(value));
            if SCHEMAS.iter().any(|key| document.contains_key(*key)) {
                collect_tool(value, tools);
            }
        }
        _ => {}
    }
}

fn collect_tool(item: &Value, tools: &mut Vec<Tool>) {
    if let Value::String(name) = item {
        tools.push(Tool::new(name, "", None));
        return;
    }
    let declarations = |key| item.get(key).filter(|it: &&Value| it.is_array());
    if let Some(several) = declarations("functionDeclarations").or(declarations("function_declarations")) {
        return collect(several, tools);
    }
    // OpenAI's older shape has the function inside; an A2A skill is called by its id.
    let tool = item.get("function").unwrap_or(item);
    let is_skill = item.get("tags").is_some() || item.get("inputModes").is_some();
    let keys = if is_skill { ["id", "name"] } else { ["name", "id"] };
    let Some(name) = keys.into_iter().find_map(|key| tool.get(key)?.as_str()) else { return };
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    tools.push(Tool::new(name, description, SCHEMAS.iter().find_map(|key| tool.get(*key))));
}

impl Tool {
    /// One with the arguments of this schema of an object.
    fn new(name: &str, description: &str, schema: Option<&Value>) -> Tool {
        let part = |key| schema.and_then(|schema| schema.get(key));
        let required = part("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let properties = part("properties").and_then(Value::as_object);
        let root = schema.unwrap_or(&Value::Null);
        let arguments = properties.into_iter().flatten();
        Tool {
            name: name.to_owned(),
            description: description.trim().to_owned(),
            arguments: arguments.map(|(name, schema)| (name.clone(), resolved(root, schema, 0))).collect(),
            required: required.map(str::to_owned).collect(),
        }
    }
}

/// References within references that are followed.
const DEEPEST: usize = 6;

/// A schema with its references to places of the document replaced by what stands there; a reference that leads nowhere, or
/// in circles, says nothing.
fn resolved(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Object(Map::new());
    }
    match schema {
        Value::Object(map) => match map.get("$ref").and_then(Value::as_str) {
            Some(place) => {
                let found = place.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                found.map_or_else(|| Value::Object(Map::new()), |found| resolved(root, found, depth + 1))
            }
            None => map.iter().map(|(key, value)| (key.clone(), resolved(root, value, depth + 1))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| resolved(root, item, depth + 1)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
