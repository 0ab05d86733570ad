//! Values of the YAML that may be of several types: the type that is written tells which is meant.

use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value as Json};

use super::config::PropertyConfig;

/// What may happen: nothing, anything, or what is listed.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum AllowedConfig<Line> {
    /// `none`.
    #[default]
    None,
    /// `any`.
    Any,
    /// A list.
    Lines(Vec<Line>),
}

impl<Line: Serialize> Serialize for AllowedConfig<Line> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AllowedConfig::None => serializer.serialize_str("none"),
            AllowedConfig::Any => serializer.serialize_str("any"),
            AllowedConfig::Lines(lines) => lines.serialize(serializer),
        }
    }
}

impl<'de, Line: Deserialize<'de>> Deserialize<'de> for AllowedConfig<Line> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AllowedConfig<Line>, D::Error> {
        struct Words<Line>(PhantomData<Line>);
        impl<'de, Line: Deserialize<'de>> Visitor<'de> for Words<Line> {
            type Value = AllowedConfig<Line>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("none, any or a list")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "none" => Ok(AllowedConfig::None),
                    "any" => Ok(AllowedConfig::Any),
                    other => Err(E::unknown_variant(other, &["none", "any"])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(AllowedConfig::Lines)
            }
        }
        deserializer.deserialize_any(Words(PhantomData))
    }
}

impl<Line: JsonSchema> JsonSchema for AllowedConfig<Line> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Allowed{}", Line::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": ["none", "any"] },
                { "type": "array", "items": generator.subschema_for::<Line>() }
            ]
        })
    }
}

/// A label, or several that a node has all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct LabelsConfig(pub Vec<String>);

impl<'de> Deserialize<'de> for LabelsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LabelsConfig, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = LabelsConfig;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a label or a list of labels")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<LabelsConfig, E> {
                Ok(LabelsConfig(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<LabelsConfig, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(LabelsConfig)
            }
        }
        deserializer.deserialize_any(Words)
    }
}

impl JsonSchema for LabelsConfig {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Labels".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "pattern": r"\S" },
                { "type": "array", "minItems": 1, "items": { "type": "string", "pattern": r"\S" } }
            ]
        })
    }
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
struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
}

impl Serialize for NumbersConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => serializer.serialize_u32(min),
            (min, max) => Bounds { min, max }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for NumbersConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumbersConfig, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = NumbersConfig;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or `min` and `max`")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<NumbersConfig, E> {
                let number = u32::try_from(number).map_err(|_| E::custom(format!("{number} is too large")))?;
                Ok(NumbersConfig { min: Some(number), max: Some(number) })
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<NumbersConfig, E> {
                u64::try_from(number)
                    .map_err(|_| E::custom(format!("{number} is too small")))
                    .and_then(|n| self.visit_u64(n))
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<NumbersConfig, A::Error> {
                let Bounds { min, max } = Bounds::deserialize(MapAccessDeserializer::new(entries))?;
                Ok(NumbersConfig { min, max })
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// A bound of a range: a number or text.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundConfig {
    /// For numbers.
    Number(Number),
    /// For strings, dates and times.
    Text(String),
}

impl Serialize for BoundConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            BoundConfig::Number(number) => number.serialize(serializer),
            BoundConfig::Text(text) => serializer.serialize_str(text),
        }
    }
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

impl JsonSchema for BoundConfig {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}

/// What a property must be: this value, or what a mapping says of it.
#[derive(Debug, Clone, PartialEq)]
pub enum MatcherConfig {
    /// A plain value. Null means that there is no such property.
    Equal(Json),
    /// A mapping.
    Like(Box<PropertyConfig>),
}

impl Serialize for MatcherConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            MatcherConfig::Equal(value) => value.serialize(serializer),
            MatcherConfig::Like(property) => property.serialize(serializer),
        }
    }
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
