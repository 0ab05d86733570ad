//! `evaluator.model` and `scorer.model` as they are written: a name, or a mapping with a name in it.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Model, ModelName, ReasoningEffort};

/// One of our own models.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ModelFile {
    /// `openai/gpt-4.1-mini`.
    Name(String),
    /// `{name: openai/qwen3, baseUrl: …}`.
    Mapping(Box<ModelMapping>),
}

impl TryFrom<ModelFile> for Model {
    type Error = String;

    fn try_from(file: ModelFile) -> Result<Model, String> {
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
        let name = name.spelled();
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

impl Serialize for ModelFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ModelFile::Name(name) => serializer.serialize_str(name),
            ModelFile::Mapping(mapping) => mapping.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ModelFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ModelFile, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = ModelFile;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a model's name or a mapping")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ModelFile, E> {
                Ok(ModelFile::Name(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<ModelFile, A::Error> {
                ModelMapping::deserialize(MapAccessDeserializer::new(entries)).map(Box::new).map(ModelFile::Mapping)
            }
        }
        deserializer.deserialize_any(Words)
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
