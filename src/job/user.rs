//! The user of a case: fixed messages, the persona, or fixed messages first.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::Line;

/// Who speaks with the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum User {
    /// The persona, by its model.
    #[default]
    Persona,
    /// Fixed messages, sent one after the other.
    Lines(Vec<Line>),
}

impl User {
    /// Whether the persona's model speaks.
    pub fn is_persona(&self) -> bool {
        *self == User::Persona
    }
}

impl<'de> Deserialize<'de> for User {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<User, D::Error> {
        Vec::<Line>::deserialize(deserializer).map(User::Lines)
    }
}

/// The first user messages of a case: one is written as a text, several as a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opening(pub Vec<String>);

impl Opening {
    /// Whether there is none, so that one of the greetings begins, or else the script or the persona.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An opening as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OpeningFile {
    Text(String),
    List(Vec<String>),
}

impl Serialize for Opening {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => only.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Opening {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Opening, D::Error> {
        Ok(match Option::<OpeningFile>::deserialize(deserializer)? {
            None => Opening::default(),
            Some(OpeningFile::Text(text)) => Opening(vec![text]),
            Some(OpeningFile::List(list)) => Opening(list),
        })
    }
}

impl JsonSchema for Opening {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Opening".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = serde_json::json!({ "type": "string", "pattern": r"\S" });
        let nothing = serde_json::json!({ "type": "null" });
        json_schema!({ "anyOf": [text, { "type": "array", "items": text, "minItems": 1 }, nothing] })
    }
}

/// The part that the `reference` agent has in a case: what it says and which tools it calls is expected of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReferencePart {
    /// It gets the user's messages after the conversation.
    Follows,
    /// The user talks with it first; then the agent gets the same messages.
    Leads,
}
