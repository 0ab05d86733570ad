//! The tool that a reply of the persona's model names.

use serde_json::{Map, Value};

use super::persona_reply::{UnusableReply, unusable};

/// A call of a tool, as the persona's model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTool {
    /// The tool's name.
    pub name: String,
    /// Its arguments: a mapping, where they are what they must be.
    pub arguments: Value,
}

/// The name by which a reply says that it uses no tool.
const NO_TOOL: &str = "none";

/// The request to a persona that names its tool in another form.
const TOOL_FORM: &str = "name one tool at a time, in the key `tool` of the whole object: {\"message\": \"\", \"done\": false, \"reason\": \"\", \
                         \"tool\": {\"name\": \"its name\", \"arguments\": \"{}\"}}";

/// The tool that a reply names, if it names one.
pub(super) fn wanted_tool(object: &Map<String, Value>) -> Result<Option<WantedTool>, UnusableReply> {
    let Some(tool) = object.get("tool") else {
        let is_bare = !object.contains_key("message") && object.contains_key("name");
        return if is_bare { unusable(TOOL_FORM) } else { Ok(None) };
    };
    if tool.as_array().is_some_and(|tools| !tools.is_empty()) {
        return unusable(TOOL_FORM);
    }
    let Some(name) = tool.get("name").and_then(Value::as_str).or(tool.as_str()).map(str::trim) else { return Ok(None) };
    let arguments = match tool.get("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Object(Map::new()),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        Some(other) => other.clone(),
    };
    let is_named = !name.is_empty() && !name.eq_ignore_ascii_case(NO_TOOL);
    Ok(is_named.then(|| WantedTool { name: name.to_owned(), arguments }))
}
