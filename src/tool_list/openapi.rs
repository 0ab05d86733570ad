//! OpenAPI 3 and Swagger 2: each operation is a tool.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Tool, resolved};

/// The methods of an OpenAPI path; its other keys are no operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// The operations of a document; none where it has no paths.
pub(super) fn read(document: &Value) -> Vec<Tool> {
    let mut tools = Vec::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, operations) in paths.into_iter().flatten() {
        let shared = operations.get("parameters").and_then(Value::as_array);
        let operations = operations.as_object().into_iter().flatten();
        for (method, operation) in operations.filter(|(method, _)| METHODS.contains(&method.as_str())) {
            let text = |key| operation.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            let id = text("operationId").map(str::to_owned);
            let own = operation.get("parameters").and_then(Value::as_array);
            let mut tool = Tool {
                name: id.unwrap_or_else(|| format!("{} {path}", method.to_uppercase())),
                description: text("summary").or(text("description")).unwrap_or_default().trim().to_owned(),
                arguments: Map::new(),
                required: BTreeSet::new(),
            };
            for parameter in shared.into_iter().chain(own).flatten() {
                tool.add_parameter(&resolved(document, parameter, 0));
            }
            tool.add_body(&resolved(document, &operation["requestBody"], 0)["content"]);
            tools.push(tool);
        }
    }
    tools
}

impl Tool {
    /// A parameter of the path or the query; headers and cookies are not the user's.
    fn add_parameter(&mut self, parameter: &Value) {
        let (Some(name), place) = (parameter["name"].as_str(), parameter["in"].as_str()) else { return };
        match place {
            Some("path" | "query" | "formData") => {
                // Swagger 2 has no schema of its own.
                let mut schema = parameter.get("schema").unwrap_or(parameter).clone();
                for key in ["description", "example", "examples"] {
                    let value = match (key, parameter.get(key)) {
                        ("examples", Some(Value::Object(named))) => {
                            Some(named.values().filter_map(|one| one.get("value")).cloned().collect())
                        }
                        (_, value) => value.cloned(),
                    };
                    if let (Some(value), Value::Object(schema)) = (value, &mut schema) {
                        schema.insert(key.to_owned(), value);
                    }
                }
                if let Value::Object(schema) = &mut schema {
                    ["in", "name", "required"].iter().for_each(|key| drop(schema.remove(*key)));
                }
                self.arguments.insert(name.to_owned(), schema);
                if parameter["required"] == json!(true) || place == Some("path") {
                    self.required.insert(name.to_owned());
                }
            }
            Some("body") => self.add_object(&parameter["schema"]),
            _ => {}
        }
    }

    /// The properties of the body, of the first kind of content that is an object.
    fn add_body(&mut self, content: &Value) {
        let kinds = content.as_object().into_iter().flatten().map(|(_, kind)| &kind["schema"]);
        if let Some(schema) = kinds.into_iter().find(|schema| schema["properties"].is_object()) {
            self.add_object(schema);
        }
    }

    fn add_object(&mut self, schema: &Value) {
        let Tool { arguments, required, .. } = Tool::new("", "", Some(schema));
        self.arguments.extend(arguments);
        self.required.extend(required);
    }
}
