//! `evaluator.tools`: what the simulated user can do beside talking.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::problem::Report;
use super::source::{YamlNode, as_json};
use crate::metric::json_schema::schema_problem;

/// A tool of the simulated user: something that it can do or look at by itself. It is called on the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "tool of the user")]
pub struct UserTool {
    /// Its name: letters from a to z, digits, `_` and `-`, 64 at most; `none` is taken.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    pub name: String,
    /// What it does or shows, for the persona.
    #[schemars(regex(pattern = r"\S"))]
    pub description: String,
    /// Its arguments, as JSON Schema of a mapping. Without it, it takes none
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub parameters: Value,
}

/// The schema of the arguments of a tool that takes none.
static NO_ARGUMENTS: LazyLock<Value> =
    LazyLock::new(|| json!({"type": "object", "properties": {}, "additionalProperties": false}));

impl UserTool {
    /// The name that stands for no tool in a reply of the persona.
    pub const NONE: &'static str = "none";

    /// The JSON Schema of its arguments, also where it takes none.
    pub fn schema(&self) -> &Value {
        match &self.parameters {
            Value::Null => &NO_ARGUMENTS,
            schema => schema,
        }
    }

    /// Whether it can be called with arguments.
    pub fn takes_arguments(&self) -> bool {
        self.parameters.get("properties").is_none_or(|properties| properties != &json!({}))
            && !self.parameters.is_null()
    }
}

/// Reports tools that nobody can call.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    let Some(evaluator) = root.get("evaluator") else { return };
    let Some(tools) = evaluator.entry("tools") else { return };
    let model = evaluator.get("model");
    let model = model.and_then(|model| model.text().or_else(|| model.get("name")?.text()));
    if model == Some("scripted") {
        let add = report.add(tools.key.span, "the rules of `scripted` use no tools".to_owned());
        add.try_this("name a model in `evaluator.model`, or leave `tools` out".to_owned());
    }
    let mut taken = std::collections::BTreeSet::new();
    for tool in tools.value.items() {
        if let Some((node, name)) = tool.get("name").and_then(|node| Some((node, node.text()?))) {
            if name.eq_ignore_ascii_case(UserTool::NONE) {
                report.add(
                    node.span,
                    format!("`{name}` stands for no tool in the persona's replies: choose another name"),
                );
            } else if !taken.insert(name) {
                report.add(node.span, format!("there are two tools `{name}`"));
            }
        }
        let Some(node) = tool.get("parameters").filter(|node| !node.entries().is_empty()) else { continue };
        let schema = as_json(node);
        let kind = schema.get("type");
        if let Some(problem) = schema_problem(&schema) {
            report.add(node.span, problem.replacen("`schema`", "`parameters`", 1));
        } else if kind.is_some_and(|kind| kind != "object") {
            let add = report.add(node.span, "`parameters` describes no mapping, and arguments are one".to_owned());
            add.try_this("write {type: object, properties: …}".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_a_tool_is_there_once_however_often_it_is_asked_for() {
        for parameters in [Value::Null, json!({"type": "object", "properties": {"on": {"type": "boolean"}}})] {
            let tool = UserTool { name: "toggle".to_owned(), description: "d".to_owned(), parameters };
            assert!(std::ptr::eq(tool.schema(), tool.schema()));
            assert_eq!(tool.schema()["type"], "object");
        }
    }
}
