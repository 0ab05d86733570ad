//! Reads an object context, with all the protocol's defaults. It is written as [`ObjectContext`] itself.

use serde_json::{Map, Value};

use super::text_or_number;
use crate::evidence::ObjectContext;

/// Reads an object context.
///
/// # Errors
/// It is of another shape.
pub fn parse_object_context(mut body: Value) -> Result<ObjectContext, serde_json::Error> {
    body.as_object_mut().into_iter().for_each(drop_nulls);
    for resource in items(&mut body, "resources") {
        drop_nulls(resource);
        let id = text_or_number(resource.remove("id").unwrap_or_default())?;
        resource.insert("id".to_owned(), id.into());
        let name = resource.get("name").cloned().unwrap_or_else(|| "".into());
        resource.entry("description").or_insert(name);
    }
    for function in items(&mut body, "functions") {
        drop_nulls(function);
        function.entry("name").or_insert_with(|| "".into());
    }
    serde_json::from_value(body)
}

fn items<'a>(body: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = body.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten();
    list.filter_map(Value::as_object_mut)
}

/// `null` reads like a missing field.
fn drop_nulls(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Function, Resource};

    #[test]
    fn a_full_context_is_read() {
        let context = parse_object_context(json!({
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
        let context = parse_object_context(json!({
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
        assert_eq!(parse_object_context(json!({})).unwrap(), ObjectContext::default());
        assert_eq!(
            parse_object_context(json!({"resources": null, "functions": null})).unwrap(),
            ObjectContext::default()
        );
    }

    #[test]
    fn what_is_no_context_is_an_error() {
        for body in [json!("none"), Value::Null, json!({"resources": 5}), json!({"resources": ["x"]})] {
            assert!(parse_object_context(body.clone()).is_err(), "{body}");
        }
    }

    #[test]
    fn what_the_demo_agent_writes_is_read_back() {
        let context = ObjectContext {
            context: json!("c"),
            resources: vec![Resource { id: "1".to_owned(), name: "n".to_owned(), ..Resource::default() }],
            functions: vec![Function { name: "f".to_owned(), ..Function::default() }],
        };
        let read = parse_object_context(serde_json::to_value(&context).unwrap()).unwrap();
        assert_eq!(read, context);
    }
}
