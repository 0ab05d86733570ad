//! `scorer.embeddings`: the model whose embeddings compare texts, behind an endpoint or in a folder.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Model, ModelName, ModelNameError, rules};

/// A model of embeddings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "EmbeddingsFile", into = "EmbeddingsFile")]
pub enum Embeddings {
    /// Behind an endpoint that speaks OpenAI's embeddings.
    Endpoint(Model),
    /// In a folder on this machine, as the job writes its path.
    Folder(String),
}

/// A model of embeddings as it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum EmbeddingsFile {
    /// `openai/all-minilm`.
    Name(String),
    /// `{name: openai/all-minilm, baseUrl: …}` or `{folder: all-MiniLM-L6-v2}`.
    Mapping(EmbeddingsMapping),
}

/// Where a model of embeddings is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "model of embeddings", rename = "Embeddings", transform = endpoint_or_folder)]
pub(super) struct EmbeddingsMapping {
    /// `openai/MODEL`, of any endpoint that speaks OpenAI's embeddings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub name: Option<String>,
    /// A folder with a BERT of sentence-transformers (`config.json`, `tokenizer.json`, `model.safetensors`), like
    /// all-MiniLM-L6-v2; relative to the job file. It needs an eval-job that was built with the feature `local-embeddings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub folder: Option<String>,
    /// Where it is reached: `http://localhost:11434/v1` for Ollama. The provider's usual key is not sent there: name one
    /// with `apiKeyEnv` if it wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub api_key_env: Option<String>,
}

fn endpoint_or_folder(schema: &mut Schema) {
    rules::exactly_one(schema, &["name", "folder"]);
    rules::apart(schema, &[["folder", "baseUrl"], ["folder", "apiKeyEnv"]]);
}

impl TryFrom<EmbeddingsFile> for Embeddings {
    type Error = ModelNameError;

    fn try_from(file: EmbeddingsFile) -> Result<Embeddings, ModelNameError> {
        let EmbeddingsMapping { name, folder, base_url, api_key_env } = match file {
            EmbeddingsFile::Name(name) => EmbeddingsMapping { name: Some(name), ..EmbeddingsMapping::default() },
            EmbeddingsFile::Mapping(mapping) => mapping,
        };
        match folder {
            Some(folder) => Ok(Embeddings::Folder(folder)),
            None => {
                let name = ModelName::parse(&name.unwrap_or_default())?;
                Ok(Embeddings::Endpoint(Model { base_url, api_key_env, ..Model::new(name) }))
            }
        }
    }
}

impl From<Embeddings> for EmbeddingsFile {
    fn from(embeddings: Embeddings) -> EmbeddingsFile {
        EmbeddingsFile::Mapping(match embeddings {
            Embeddings::Folder(folder) => EmbeddingsMapping { folder: Some(folder), ..EmbeddingsMapping::default() },
            Embeddings::Endpoint(Model { name, base_url, api_key_env, .. }) => {
                EmbeddingsMapping { name: Some(name.to_string()), folder: None, base_url, api_key_env }
            }
        })
    }
}

impl<'de> Deserialize<'de> for EmbeddingsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EmbeddingsFile, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(EmbeddingsFile::Name(name)),
            mapping => serde_json::from_value(mapping).map(EmbeddingsFile::Mapping).map_err(Error::custom),
        }
    }
}

impl JsonSchema for EmbeddingsFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EmbeddingsFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // A key without a value says nothing, as everywhere.
        json_schema!({ "anyOf": [{ "type": ["string", "null"] }, generator.subschema_for::<EmbeddingsMapping>()] })
    }
}
