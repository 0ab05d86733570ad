//! Values of the YAML that may be of several types, distinguished by the type that is written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value as Json};

use super::config::{ChangeConfig, PropertyConfig};

/// The allowed changes: none, any, or a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum AllowedConfig {
    /// `none`.
    #[default]
    None,
    /// `any`.
    Any,
    /// A list.
    Lines(Vec<ChangeConfig>),
}

impl Serialize for AllowedConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AllowedConfig::None => serializer.serialize_str("none"),
            AllowedConfig::Any => serializer.serialize_str("any"),
            AllowedConfig::Lines(lines) => lines.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AllowedConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AllowedConfig, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::String(text) if text == "none" => Ok(AllowedConfig::None),
            Json::String(text) if text == "any" => Ok(AllowedConfig::Any),
            lines @ Json::Array(_) => serde_json::from_value(lines).map(AllowedConfig::Lines).map_err(D::Error::custom),
            other => Err(D::Error::custom(format!("{other} is neither none, any nor a list"))),
        }
    }
}

impl AllowedConfig {
    /// The schema, with that of a line.
    pub(super) fn schema_of(line: Schema) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": ["none", "any"] },
                { "type": "array", "items": line }
            ]
        })
    }
}

impl JsonSchema for AllowedConfig {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Allowed".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AllowedConfig::schema_of(generator.subschema_for::<ChangeConfig>())
    }
}

/// A label, or several that a node has all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, transform = labels_schema)]
pub struct LabelsConfig(pub Vec<String>);

impl<'de> Deserialize<'de> for LabelsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LabelsConfig, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::String(label) => Ok(LabelsConfig(vec![label])),
            labels => serde_json::from_value(labels).map(LabelsConfig).map_err(D::Error::custom),
        }
    }
}

/// The schema of [`LabelsConfig`].
fn labels_schema(schema: &mut Schema) {
    *schema = json_schema!({
        "anyOf": [
            { "type": "string", "pattern": r"\S" },
            { "type": "array", "minItems": 1, "items": { "type": "string", "pattern": r"\S" } }
        ]
    });
}

/// A number, or the least and the most. Its schema stands where it is used: the least possible one differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumbersConfig {
    /// The least.
    pub min: Option<u32>,
    /// The most.
    pub max: Option<u32>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NumberRange {
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
}

impl Serialize for NumbersConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => serializer.serialize_u32(min),
            (min, max) => NumberRange { min, max }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for NumbersConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumbersConfig, D::Error> {
        let bounds = match Json::deserialize(deserializer)? {
            number @ Json::Number(_) => {
                serde_json::from_value(number).map(|number| NumberRange { min: number, max: number })
            }
            bounds @ Json::Object(_) => serde_json::from_value(bounds),
            other => return Err(D::Error::custom(format!("{other} is neither a number nor `min` and `max`"))),
        };
        bounds.map(|NumberRange { min, max }| NumbersConfig { min, max }).map_err(D::Error::custom)
    }
}

impl NumbersConfig {
    pub(super) const AT_LEAST_ONE: NumbersConfig = NumbersConfig { min: Some(1), max: None };

    pub(super) fn contains(self, number: u32) -> bool {
        self.min.is_none_or(|min| min <= number) && self.max.is_none_or(|max| number <= max)
    }
}

/// A bound of a range: a number or text.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = bound_schema)]
pub enum BoundConfig {
    /// For numbers.
    Number(Number),
    /// For strings, dates and times.
    Text(String),
}

impl<'de> Deserialize<'de> for BoundConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BoundConfig, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Number(number) => Ok(BoundConfig::Number(number)),
            Json::String(text) => Ok(BoundConfig::Text(text)),
            other => Err(D::Error::custom(format!("{other} is neither a number nor text"))),
        }
    }
}

/// The schema of [`BoundConfig`].
fn bound_schema(schema: &mut Schema) {
    *schema = json_schema!({ "type": ["number", "string"] });
}

/// Matches a property: by its value, or by the rules of a mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MatcherConfig {
    /// A plain value. Null means that there is no such property.
    Equal(Json),
    /// A mapping.
    Like(Box<PropertyConfig>),
}

impl<'de> Deserialize<'de> for MatcherConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MatcherConfig, D::Error> {
        match Json::deserialize(deserializer)? {
            mapping @ Json::Object(_) => {
                serde_json::from_value(mapping).map(MatcherConfig::Like).map_err(D::Error::custom)
            }
            value => Ok(MatcherConfig::Equal(value)),
        }
    }
}

impl JsonSchema for MatcherConfig {
    fn schema_name() -> Cow<'static, str> {
        "MatcherConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                generator.subschema_for::<PropertyConfig>(),
                { "type": ["string", "number", "boolean", "null", "array"] }
            ]
        })
    }
}
