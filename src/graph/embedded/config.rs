//! The YAML settings of the embedded graph.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::http::PortConfig;

/// `graph.embedded`: in process, empty at first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbeddedConfig {
    /// The port on loopback at which an agent that eval-job starts finds the graph: `auto` takes a free one for each graph.
    /// With a number, trials that have a graph of their own run one after the other. Default: auto
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bolt: Option<PortConfig>,
    /// The most memory that a statement may take, and the graph itself, in megabytes: `512`, `512 MB` or `2 GB`. A statement
    /// that needs more fails and nothing of it is kept. Default: 512
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Megabytes>,
}

impl EmbeddedConfig {
    /// Why this build has none; `None` where it has.
    pub const ABSENT: Option<&'static str> = match cfg!(feature = "embedded") {
        true => None,
        false => Some("this eval-job was built without the embedded graph (the feature `embedded`)"),
    };

    /// The port of its Bolt server, where it is fixed.
    pub fn bolt_port(&self) -> Option<u16> {
        self.bolt.and_then(PortConfig::number)
    }
}

/// A size in megabytes, from 16 to 1048576.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, transform = megabytes_schema)]
pub struct Megabytes(u32);

impl Megabytes {
    const LEAST: u32 = 16;
    const MOST: u32 = 1 << 20;

    /// The size in bytes.
    pub fn bytes(self) -> usize {
        usize::try_from(u64::from(self.0) << 20).unwrap_or(usize::MAX)
    }

    fn new(number: u64) -> Option<Megabytes> {
        u32::try_from(number).ok().filter(|number| (Self::LEAST..=Self::MOST).contains(number)).map(Megabytes)
    }
}

impl Default for Megabytes {
    fn default() -> Megabytes {
        Megabytes(512)
    }
}

/// Text that is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a size is a number of megabytes from 16 to 1048576, such as 512, `512 MB` or `2 GB`")]
pub struct NotASize;

impl FromStr for Megabytes {
    type Err = NotASize;

    fn from_str(text: &str) -> Result<Megabytes, NotASize> {
        let text = text.trim().to_ascii_uppercase();
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let times = match unit.trim() {
            "" | "M" | "MB" | "MIB" => 1,
            "G" | "GB" | "GIB" => 1024,
            _ => return Err(NotASize),
        };
        let number: u64 = number.parse().map_err(|_| NotASize)?;
        number.checked_mul(times).and_then(Megabytes::new).ok_or(NotASize)
    }
}

impl fmt::Display for Megabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB", self.0)
    }
}

impl Serialize for Megabytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

impl<'de> Deserialize<'de> for Megabytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Megabytes, D::Error> {
        let size = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Number(number) => number.as_u64().and_then(Megabytes::new).ok_or(NotASize),
            serde_json::Value::String(text) => text.parse(),
            _ => Err(NotASize),
        };
        size.map_err(D::Error::custom)
    }
}

fn megabytes_schema(schema: &mut Schema) {
    *schema = json_schema!({
        "anyOf": [
            { "type": "integer", "minimum": Megabytes::LEAST, "maximum": Megabytes::MOST },
            {
                "type": "string",
                "description": "whole megabytes or gigabytes from 16 MB to 1024 GB, like `512 MB` or `2 GB`",
                "pattern": "^[0-9]{1,6} *([MmGg]([Ii]?[Bb])?)?$"
            }
        ]
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        for (text, megabytes) in
            [("512", 512), ("16", 16), ("64MB", 64), ("2 GB", 2048), ("1gib", 1024), (" 100 m ", 100)]
        {
            assert_eq!(text.parse(), Ok(Megabytes(megabytes)), "{text}");
        }
        for text in ["", "MB", "15", "0", "-1", "1.5 GB", "512 KB", "99999999 GB", "18446744073709551615 GB", "5x"] {
            assert_eq!(text.parse::<Megabytes>(), Err(NotASize), "{text}");
        }
    }

    #[test]
    fn a_size_in_yaml_is_a_number_or_a_text() {
        let read =
            |value: serde_json::Value| serde_json::from_value::<EmbeddedConfig>(serde_json::json!({"memory": value}));
        assert_eq!(read(64.into()).unwrap().memory, Some(Megabytes(64)));
        assert_eq!(read("1 GB".into()).unwrap().memory, Some(Megabytes(1024)));
        assert!(read(1.into()).unwrap_err().to_string().contains("a size is a number of megabytes"));
        assert!(read(true.into()).is_err());
    }
}
