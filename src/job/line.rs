//! One fixed message of a script: a text, or a mapping that also says what the agent is expected to do about it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::agent::tools::ToolMockConfig;
use crate::metric::trajectory::Expectation;

/// One fixed message of a script.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "LineFile")]
pub struct Line {
    /// The message.
    pub say: String,
    /// What is expected of the agent's turn.
    pub expected: Option<Box<Expectation>>,
    /// The results of tools in this turn.
    pub mocks: Vec<ToolMockConfig>,
}

impl From<String> for Line {
    fn from(say: String) -> Line {
        Line { say, expected: None, mocks: Vec::new() }
    }
}

/// A line as it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum LineFile {
    /// `Book a table for two`.
    Text(String),
    /// `{say: Book a table for two, expected: {…}}`.
    Mapping(Box<LineMapping>),
}

/// A fixed message, and what the agent is expected to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "line", rename = "Line")]
struct LineMapping {
    /// The message.
    #[schemars(regex(pattern = r"\S"))]
    say: String,
    /// What is expected of the agent's turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Box<Expectation>>,
    /// The results of tools in this turn, for agents whose tools eval-job answers for: the first that fits a call counts, and
    /// a call of a tool that has some and fits none fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mocks: Vec<ToolMockConfig>,
}

impl From<Line> for LineFile {
    fn from(line: Line) -> LineFile {
        match line {
            Line { say, expected: None, mocks } if mocks.is_empty() => LineFile::Text(say),
            Line { say, expected, mocks } => LineFile::Mapping(Box::new(LineMapping { say, expected, mocks })),
        }
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Line, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(say) => Ok(Line::from(say)),
            mapping => {
                let LineMapping { say, expected, mocks } = serde_json::from_value(mapping).map_err(Error::custom)?;
                Ok(Line { say, expected, mocks })
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
