//! The settings of a function that a bare model may call.

use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::agent::rest::RestSettings;
use crate::agent::transport::abilities_where;
use crate::agent::{Ability, SettingError};

/// A function that the model may call, and its results. Nothing is ever really called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolConfig {
    /// Its name.
    #[schemars(regex(pattern = r"\S"))]
    pub name: String,
    /// Its description for the model.
    #[serde(default)]
    pub description: String,
    /// Its parameters, as JSON Schema. Without them it takes none.
    #[serde(default)]
    pub parameters: Value,
    /// Its result: a value; or a list of `{when: {argument: value}, returns: value}`, of which the first with a `when`
    /// that matches the arguments counts (without `when`: always).
    #[serde(default)]
    pub returns: Value,
}

/// The result of a tool's calls in one turn of a case: the tool itself is not called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "toolMock", transform = one_source)]
pub struct ToolMockConfig {
    /// The tool.
    #[schemars(regex(pattern = r"\S"))]
    pub tool: String,
    /// The arguments of the calls that it answers; without them, all calls of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The only arguments that must be as in `args`, such as `address.city`, also within lists. Default: all of them
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub only_paths: Vec<String>,
    /// Arguments that may be any, or absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub ignore_paths: Vec<String>,
    /// By how much a number may differ. Default: 0
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub number_tolerance: Option<f64>,
    /// The result.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub result: Option<Value>,
    /// Instructions for the persona's model (`evaluator.model`), which makes the result of the arguments up, instead of `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub prompt: Option<String>,
}

/// Either a result, or who makes it up.
fn one_source(schema: &mut Schema) {
    schema.insert("oneOf".to_owned(), json!([{ "required": ["result"] }, { "required": ["prompt"] }]));
}

/// A value that is there, whatever it is.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The functions, and the mocked ones that are not among them: a model can only call declared functions.
pub(in crate::agent) fn with_mocked<'a>(
    tools: &[ToolConfig],
    mocks: impl Iterator<Item = &'a ToolMockConfig>,
) -> Vec<ToolConfig> {
    let mut all = tools.to_vec();
    for mock in mocks {
        if !all.iter().any(|tool| tool.name == mock.tool) {
            all.push(ToolConfig {
                name: mock.tool.clone(),
                description: String::new(),
                parameters: json!({"type": "object", "additionalProperties": true}),
                returns: json!({"error": "nothing is known for these arguments"}),
            });
        }
    }
    all
}

/// The problems of a list of functions, each with its key.
pub fn tool_problems(key: &str, tools: &[ToolConfig]) -> Vec<SettingError> {
    let (mut problems, mut names) = (Vec::new(), BTreeSet::new());
    for tool in tools {
        let name = &tool.name;
        // As OpenAI's API reference has it: letters, digits, underscores and dashes, at most 64.
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !name.chars().all(fits) || name.len() > 64 {
            let problem = format!("a function can't be called `{name}`: only letters, digits, _ and -, at most 64");
            problems.push(SettingError::new(key, problem));
        }
        if !names.insert(name) {
            problems.push(SettingError::new(key, format!("there are two functions `{name}`")));
        }
        if !matches!(tool.parameters, Value::Null | Value::Object(_)) {
            let problem =
                format!("the parameters of `{name}` are no JSON Schema; write {{type: object, properties: …}}");
            problems.push(SettingError::new(key, problem));
        }
    }
    problems
}

/// The default settings of a bare model behind an API of OpenAI's, which may stream and resume a conversation.
pub(in crate::agent) fn bare_model(key: &'static str, streams: bool, resumes: bool) -> RestSettings<'static> {
    RestSettings {
        started_path: "/v1",
        abilities: abilities_where(&[
            (true, Ability::ChoosesModel),
            (streams, Ability::Streams),
            (true, Ability::ReportsTools),
            (true, Ability::ReportsUsage),
            (true, Ability::TakesHistory),
            (true, Ability::MocksTools),
            (resumes, Ability::Resumes),
        ]),
        default_model: "gpt-4.1-mini",
        name_key: Some("another model (--model)"),
        sends_user: false,
        ..RestSettings::new(key, "https://api.openai.com/v1")
    }
}

impl ToolConfig {
    /// Its parameters as JSON Schema, also where it takes none.
    pub(in crate::agent) fn schema(&self) -> Value {
        match &self.parameters {
            Value::Null => json!({"type": "object", "properties": {}}),
            schema => schema.clone(),
        }
    }
}
