//! The YAML of a `changes` assertion.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::property::Pattern;
use super::union::{AllowedConfig, BoundConfig, LabelsConfig, MatcherConfig, NumbersConfig};

/// `changes`: what the conversation may do to the graph, and must. Whatever it does beyond that fails.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "changes")]
pub struct ChangesConfig {
    /// Which nodes and relationships are created: `none` (also where it is left out), `any`, or a list of all that may be.
    #[schemars(schema_with = "allowed_without_set")]
    pub created: AllowedConfig,
    /// Which are deleted, likewise; as they were last seen.
    #[schemars(schema_with = "allowed_without_set")]
    pub deleted: AllowedConfig,
    /// Which have other properties or labels at the end of a turn than before it, likewise.
    pub changed: AllowedConfig,
    /// The one turn in which all of it may happen, counted from 1, or the first and the last one. Without it, any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "turns")]
    pub turn: Option<NumbersConfig>,
}

/// Nodes or relationships that are created, deleted or changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "change", transform = node_or_relationship)]
pub struct ChangeConfig {
    /// A node with this label, or with all of these; of one that is changed, afterwards.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LabelsConfig")]
    pub node: Option<LabelsConfig>,
    /// A relationship of this type.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub relationship: Option<String>,
    /// The node where the relationship starts. Without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<EndConfig>,
    /// The node where the relationship ends. Without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<EndConfig>,
    /// Its properties, afterwards, as far as they matter: a value (null means that there is no such property) or what the value must be like.
    #[serde(default, rename = "where")]
    pub properties: PropertiesConfig,
    /// Only these properties may differ, and this is what they must be afterwards. Without it, everything may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<PropertiesConfig>,
    /// How many there must be: a number, or the least and the most. Without it, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "counts")]
    pub count: Option<NumbersConfig>,
}

/// Properties, each with what it must be.
pub type PropertiesConfig = BTreeMap<String, MatcherConfig>;

/// The node at an end of a relationship.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "end")]
pub struct EndConfig {
    /// It has this label, or all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<LabelsConfig>,
    /// Its properties, as far as they matter.
    #[serde(rename = "where")]
    pub properties: PropertiesConfig,
}

/// The conditions on a property: all of them must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "property")]
pub struct PropertyConfig {
    /// Its type. `number` is an integer or a float.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<PropertyTypeConfig>,
    /// A regular expression that the whole text matches, of a string or of a date or time in ISO 8601: `.*Ada.*` finds Ada anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = r"\S"))]
    pub regex: Option<Pattern>,
    /// It is this or more: a number; or text, for strings by their characters, for dates and times in ISO 8601 by the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<BoundConfig>,
    /// It is this or less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<BoundConfig>,
    /// It is this value; for values that are mappings.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Json")]
    pub equals: Option<Json>,
}

/// The type of a property, as Cypher calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PropertyTypeConfig {
    /// Text.
    String,
    /// A whole number that is kept as one.
    Integer,
    /// A number with a point, also 2.0.
    Float,
    /// An integer or a float.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
    /// A calendar date.
    Date,
    /// A time of day with an offset.
    Time,
    /// A time of day.
    LocalTime,
    /// A moment with an offset or a zone.
    DateTime,
    /// A date and a time of day.
    LocalDateTime,
    /// A duration.
    Duration,
    /// A point in space.
    Point,
}

fn node_or_relationship(schema: &mut Schema) {
    schema.insert("oneOf".to_owned(), json!([{ "required": ["node"] }, { "required": ["relationship"] }]));
    schema.insert("dependentRequired".to_owned(), json!({ "from": ["relationship"], "to": ["relationship"] }));
}

/// The schema without `set`, for what is created or deleted.
fn allowed_without_set(generator: &mut SchemaGenerator) -> Schema {
    let mut change = ChangeConfig::json_schema(generator);
    let properties = change.get_mut("properties").and_then(Json::as_object_mut);
    properties.map(|properties| properties.shift_remove("set"));
    AllowedConfig::schema_of(change)
}

fn counts(_: &mut SchemaGenerator) -> Schema {
    numbers(0)
}

fn turns(_: &mut SchemaGenerator) -> Schema {
    numbers(1)
}

fn numbers(least: u32) -> Schema {
    let number = |description: &str| json!({ "description": description, "type": ["integer", "null"], "minimum": least, "maximum": u32::MAX });
    json_schema!({
        "anyOf": [
            { "type": "integer", "minimum": least, "maximum": u32::MAX },
            {
                "type": "object",
                "properties": { "min": number("The least."), "max": number("The most.") },
                "additionalProperties": false
            },
            { "type": "null" }
        ]
    })
}

/// Reads a key that must have a value where it is present.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
