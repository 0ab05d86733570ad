//! Reads resources and functions of an object context from an agent's JSON.

use serde_json::{Map, Value};

use super::pick::text;
use crate::evidence::{Function, ObjectContext, Resource};

/// The items of these nodes: those of a list, or the node itself.
pub(super) fn items(nodes: Vec<&Value>) -> Vec<Value> {
    let of_node = |node: &Value| match node {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    nodes.into_iter().flat_map(of_node).collect()
}

/// Labels a resource as an entity of the knowledge graph.
pub(super) fn mark_as_entity(resource: &mut Resource) {
    if !resource.labels.iter().any(|label| label == ObjectContext::ENTITY_LABEL) {
        resource.labels.push(ObjectContext::ENTITY_LABEL.to_owned());
    }
}

/// A resource: an object, or its name alone. Fields that a resource doesn't have become properties.
pub(super) fn resource(item: &Value) -> Option<Resource> {
    const OWN: [&str; 6] = ["id", "name", "description", "properties", "labels", "aliases"];
    let fields = match item {
        Value::String(name) => {
            return Some(Resource {
                id: name.clone(),
                name: name.clone(),
                description: name.clone(),
                ..Resource::default()
            });
        }
        Value::Object(fields) => fields,
        _ => return None,
    };
    let text_at = |key: &str| fields.get(key).map(text).filter(|text| !text.is_empty());
    let id = ["id", "elementId", "uuid"].iter().find_map(|key| text_at(key));
    let name = ["name", "title"].iter().find_map(|key| text_at(key)).or_else(|| id.clone()).unwrap_or_default();
    let mut properties = match fields.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    };
    for (key, value) in fields.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
        properties.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Some(Resource {
        id: id.unwrap_or_default(),
        description: text_at("description").unwrap_or_else(|| name.clone()),
        name,
        properties,
        labels: texts(fields.get("labels")),
        aliases: texts(fields.get("aliases")),
    })
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.map(|list| items(vec![list])).unwrap_or_default();
    list.iter().map(text).filter(|text| !text.is_empty()).collect()
}

/// A function: an object, one within `{"function": …}` as in requests to models, or its name alone.
pub(super) fn function(item: &Value) -> Option<Function> {
    if let Value::String(name) = item {
        return Some(Function { name: name.clone(), ..Function::default() });
    }
    let fields = item.get("function").filter(|function| function.is_object()).unwrap_or(item).as_object()?;
    let text_at = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let schema =
        ["inputTypeSchema", "parameters", "inputSchema", "input_schema"].iter().find_map(|key| fields.get(*key));
    Some(Function {
        name: text_at("name")?,
        description: text_at("description").unwrap_or_default(),
        label: text_at("label"),
        view: text_at("view"),
        static_method: fields.get("staticMethod").and_then(Value::as_bool).unwrap_or_default(),
        input_type_schema: schema.cloned().unwrap_or_default(),
    })
}
