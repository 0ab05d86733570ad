//! A port in a job file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A port of this machine: `auto`, or its number from 1 to 65535.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PortConfig {
    /// A free port, another one each time.
    #[default]
    Auto,
    /// This port.
    Fixed(u16),
}

impl PortConfig {
    /// The number, where it is fixed.
    pub fn number(self) -> Option<u16> {
        match self {
            PortConfig::Auto => None,
            PortConfig::Fixed(port) => Some(port),
        }
    }
}

impl Serialize for PortConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            PortConfig::Auto => serializer.serialize_str("auto"),
            PortConfig::Fixed(port) => serializer.serialize_u16(*port),
        }
    }
}

impl<'de> Deserialize<'de> for PortConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PortConfig, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) if text == "auto" => Ok(PortConfig::Auto),
            serde_json::Value::Number(number) => number
                .as_u64()
                .and_then(|number| u16::try_from(number).ok())
                .map(PortConfig::Fixed)
                .ok_or_else(|| Error::custom("a port is a number from 1 to 65535")),
            _ => Err(Error::invalid_type(Unexpected::Other("no port"), &"a port's number or `auto`")),
        }
    }
}

impl JsonSchema for PortConfig {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PortConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 65535 },
                { "type": "string", "enum": ["auto"] }
            ]
        })
    }
}
