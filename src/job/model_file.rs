//! `evaluator.model` and `scorer.model` as they are written: a name, or a mapping with a name in it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Model, ModelName, ModelNameError, ReasoningEffort};

/// One of our own models.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum ModelFile {
    /// `openai/gpt-4.1-mini`.
    Name(String),
    /// `{name: openai/qwen3, baseUrl: …}`.
    Mapping(Box<ModelMapping>),
}

impl TryFrom<ModelFile> for Model {
    type Error = ModelNameError;

    fn try_from(file: ModelFile) -> Result<Model, ModelNameError> {
        match file {
            ModelFile::Name(name) => Ok(Model::new(ModelName::parse(&name)?)),
            ModelFile::Mapping(mapping) => {
                let ModelMapping { name, base_url, api_key_env, max_tokens, reasoning_effort, rng_seed } = *mapping;
                let name = ModelName::parse(&name)?;
                Ok(Model { name, is_named: true, base_url, api_key_env, max_tokens, reasoning_effort, rng_seed })
            }
        }
    }
}

impl From<Model> for ModelFile {
    fn from(model: Model) -> ModelFile {
        let Model { name, is_named: _, base_url, api_key_env, max_tokens, reasoning_effort, rng_seed } = model;
        let name = name.to_string();
        ModelFile::Mapping(Box::new(ModelMapping {
            name,
            base_url,
            api_key_env,
            max_tokens,
            reasoning_effort,
            rng_seed,
        }))
    }
}

/// A model that is reached or asked in a way of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "model")]
pub(super) struct ModelMapping {
    /// `openai/MODEL` (any OpenAI-compatible endpoint), `anthropic/MODEL`, `gemini/MODEL`, `watsonx/MODEL` or `scripted`.
    #[schemars(regex(pattern = r"\S"))]
    pub name: String,
    /// Where it is reached: `http://localhost:11434/v1` for Ollama. The provider's usual key is not sent there: name one
    /// with `apiKeyEnv` if it wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub api_key_env: Option<String>,
    /// The longest reply, in tokens, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    pub max_tokens: Option<u32>,
    /// How much it thinks before it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Makes its choices repeatable, as far as the provider can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub rng_seed: Option<u32>,
}

impl<'de> Deserialize<'de> for ModelFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ModelFile, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(ModelFile::Name(name)),
            mapping => serde_json::from_value(mapping).map(ModelFile::Mapping).map_err(Error::custom),
        }
    }
}

impl JsonSchema for ModelFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // A key without a value says nothing, as everywhere.
        json_schema!({ "anyOf": [{ "type": ["string", "null"] }, generator.subschema_for::<ModelMapping>()] })
    }
}
