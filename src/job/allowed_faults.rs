//! `evaluator.allow`: the faults that a persona may make.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::evidence::Guard;

/// The faults that a persona may make, because they are part of what it plays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedFaults(Vec<Guard>);

/// Every fault.
const ALL: &str = "all";

impl AllowedFaults {
    /// Whether it may make this fault.
    pub fn allows(&self, guard: Guard) -> bool {
        self.0.contains(&guard)
    }

    /// Whether it may make every one.
    pub fn is_all(&self) -> bool {
        Guard::ALL.iter().all(|guard| self.allows(*guard))
    }

    /// Whether it may make none.
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

/// The faults as they are written.
#[derive(Deserialize)]
#[serde(untagged)]
enum AllowedFaultsFile {
    Word(String),
    List(Vec<Guard>),
}

impl Serialize for AllowedFaults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_all() { ALL.serialize(serializer) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for AllowedFaults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AllowedFaults, D::Error> {
        match AllowedFaultsFile::deserialize(deserializer)? {
            AllowedFaultsFile::Word(word) if word == ALL => Ok(AllowedFaults(Guard::ALL.to_vec())),
            AllowedFaultsFile::Word(word) => {
                Err(D::Error::custom(format!("`{word}` is neither `all` nor a list of faults")))
            }
            AllowedFaultsFile::List(list) => Ok(AllowedFaults(list)),
        }
    }
}

impl JsonSchema for AllowedFaults {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AllowedFaults".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let guards = generator.subschema_for::<Vec<Guard>>();
        json_schema!({ "anyOf": [{ "enum": [ALL] }, guards] })
    }
}
