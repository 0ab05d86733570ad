//! The object context, read with all the protocol's defaults. Written it is [`ObjectContext`] itself.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{or_default, text_or_number};
use crate::evidence::{Function, ObjectContext, Resource};

/// Reads an object context; the error says what can't be read.
pub fn object_context_of(body: Value) -> Result<ObjectContext, String> {
    let read: WireContext = serde_json::from_value(body).map_err(|error| error.to_string())?;
    Ok(ObjectContext {
        context: read.context,
        resources: read.resources.into_iter().map(WireResource::into_ours).collect(),
        functions: read.functions.into_iter().map(WireFunction::into_ours).collect(),
    })
}

#[derive(Deserialize)]
struct WireContext {
    #[serde(default)]
    context: Value,
    #[serde(default, deserialize_with = "or_default")]
    resources: Vec<WireResource>,
    #[serde(default, deserialize_with = "or_default")]
    functions: Vec<WireFunction>,
}

#[derive(Deserialize)]
struct WireResource {
    #[serde(default, deserialize_with = "text_or_number")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    description: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    properties: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    labels: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    aliases: Vec<String>,
}

impl WireResource {
    fn into_ours(self) -> Resource {
        Resource {
            description: self.description.unwrap_or_else(|| self.name.clone()),
            id: self.id,
            name: self.name,
            properties: self.properties,
            labels: self.labels,
            aliases: self.aliases,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFunction {
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    description: String,
    label: Option<String>,
    view: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    static_method: bool,
    #[serde(default)]
    input_type_schema: Value,
}

impl WireFunction {
    fn into_ours(self) -> Function {
        Function {
            name: self.name,
            description: self.description,
            label: self.label,
            view: self.view,
            static_method: self.static_method,
            input_type_schema: self.input_type_schema,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_full_context_is_read() {
        let context = object_context_of(json!({
            "context": "ann",
            "resources": [{"id": "7", "name": "Bob", "description": "a friend", "properties": {"type": "Person"},
                           "labels": ["DomainNode", "Person"], "aliases": ["Bobby"], "score": 1}],
            "functions": [{"name": "remind", "description": "Reminds.", "label": "Person", "view": "brief",
                           "staticMethod": true, "inputTypeSchema": {"type": "object"}}],
            "version": 3
        }))
        .unwrap();
        assert_eq!(context.context, "ann");
        assert_eq!(context.entities().map(|entity| entity.name.as_str()).collect::<Vec<_>>(), ["Bob"]);
        assert_eq!(context.resources[0].properties["type"], "Person");
        assert_eq!(context.resources[0].aliases, ["Bobby"]);
        let function = &context.functions[0];
        assert!(function.static_method);
        assert_eq!((function.label.as_deref(), function.view.as_deref()), (Some("Person"), Some("brief")));
    }

    #[test]
    fn what_is_missing_or_null_takes_the_protocols_defaults() {
        let context = object_context_of(json!({
            "context": null,
            "resources": [{"id": 7, "name": "Bob", "description": null, "properties": null, "labels": null,
                           "aliases": null}],
            "functions": [{"name": "f", "description": null, "label": null, "staticMethod": null,
                           "inputTypeSchema": null}]
        }))
        .unwrap();
        let resource = &context.resources[0];
        assert_eq!((resource.id.as_str(), resource.description.as_str()), ("7", "Bob"));
        assert_eq!(context.functions[0], Function { name: "f".to_owned(), ..Function::default() });
        assert_eq!(object_context_of(json!({})).unwrap(), ObjectContext::default());
        assert_eq!(object_context_of(json!({"resources": null, "functions": null})).unwrap(), ObjectContext::default());
    }

    #[test]
    fn what_is_no_context_is_an_error() {
        for body in [json!("none"), Value::Null, json!({"resources": 5}), json!({"resources": ["x"]})] {
            assert!(object_context_of(body.clone()).is_err(), "{body}");
        }
    }

    #[test]
    fn what_the_demo_agent_writes_is_read_back() {
        let context = ObjectContext {
            context: json!("c"),
            resources: vec![Resource { id: "1".to_owned(), name: "n".to_owned(), ..Resource::default() }],
            functions: vec![Function { name: "f".to_owned(), ..Function::default() }],
        };
        let read = object_context_of(serde_json::to_value(&context).unwrap()).unwrap();
        assert_eq!(read, context);
    }
}
