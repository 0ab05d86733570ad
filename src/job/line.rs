//! One fixed message of a script: a text, or a mapping that also says what the agent is expected to do about it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::case::MessageFile;
use crate::agent::tools::ToolMockConfig;
use crate::evidence::Message;
use crate::metric::trajectory::Expectation;

/// One fixed message of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The message.
    pub say: String,
    /// Messages that are put before it.
    pub before: Vec<Message>,
    /// The expectations of the agent's turn.
    pub expected: Option<Box<Expectation>>,
    /// The results of tools in this turn.
    pub mocks: Vec<ToolMockConfig>,
    /// The results of the reference agent's tools in this turn.
    pub reference_mocks: Vec<ToolMockConfig>,
}

impl From<String> for Line {
    fn from(say: String) -> Line {
        Line { say, before: Vec::new(), expected: None, mocks: Vec::new(), reference_mocks: Vec::new() }
    }
}

/// A fixed message, and what the agent is expected to do about it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "line", rename = "Line")]
struct LineMapping {
    /// The message.
    #[schemars(regex(pattern = r"\S"))]
    say: String,
    /// Messages that are put before this one, as if they had been said, for agents whose conversation may begin with an earlier one.
    #[serde(default)]
    before: Vec<MessageFile>,
    /// The expectations of the agent's turn.
    #[serde(default)]
    expected: Option<Box<Expectation>>,
    /// The results of tools in this turn, for agents whose tools eval-job answers for: the first that fits a call counts, and
    /// a call of a tool that has some and fits none fails.
    #[serde(default)]
    mocks: Vec<ToolMockConfig>,
    /// The same for the reference agent.
    #[serde(default)]
    reference_mocks: Vec<ToolMockConfig>,
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The same as [`LineMapping`], of what is at hand.
        #[derive(Serialize)]
        struct Mapping<'a> {
            say: &'a str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            before: &'a [Message],
            #[serde(skip_serializing_if = "Option::is_none")]
            expected: Option<&'a Expectation>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            mocks: &'a [ToolMockConfig],
            #[serde(rename = "referenceMocks", skip_serializing_if = "<[_]>::is_empty")]
            reference_mocks: &'a [ToolMockConfig],
        }
        let Line { say, before, expected, mocks, reference_mocks } = self;
        if expected.is_none() && before.is_empty() && mocks.is_empty() && reference_mocks.is_empty() {
            return serializer.serialize_str(say);
        }
        Mapping { say, before, expected: expected.as_deref(), mocks, reference_mocks }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Line, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(say) => Ok(Line::from(say)),
            mapping => {
                let mapping = serde_json::from_value(mapping).map_err(Error::custom)?;
                let LineMapping { say, before, expected, mocks, reference_mocks } = mapping;
                let before = before.into_iter().map(Message::from).collect();
                Ok(Line { say, before, expected, mocks, reference_mocks })
            }
        }
    }
}

impl JsonSchema for Line {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ScriptLine".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string", "pattern": r"\S" }, generator.subschema_for::<LineMapping>()] })
    }
}
