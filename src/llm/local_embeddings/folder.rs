//! The files of a model's folder, as sentence-transformers lays them out.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use candle_transformers::models::bert;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why the model of a folder can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    /// There is no such folder.
    #[error("there is no folder {}; a path is relative to the job file", .0.display())]
    NoFolder(PathBuf),
    /// A file is missing.
    #[error(
        "there is no {file} in {}; the folder of a model has config.json, tokenizer.json and model.safetensors, as \
         sentence-transformers' all-MiniLM-L6-v2 does", .folder.display()
    )]
    NoFile {
        /// The folder.
        folder: PathBuf,
        /// The file's name.
        file: &'static str,
    },
    /// A file can't be read, or not as what it should be.
    #[error("{}: {why}", .file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// Why, in a phrase.
        why: String,
    },
    /// A model of another kind.
    #[error("{}: {what}; only a BERT whose embedding is the mean of all tokens can be used, like all-MiniLM-L6-v2", .file.display())]
    OtherKind {
        /// The file that says so.
        file: PathBuf,
        /// The kind of the model.
        what: String,
    },
}

/// The files of a model, read; the tokenizer and the weights are bytes still.
pub(super) struct ModelFiles {
    pub(super) config: bert::Config,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    /// The most tokens of a text; the rest of it is cut off.
    pub(super) max_tokens: usize,
    /// Whether texts are made lower case before they are taken apart.
    pub(super) lowercases: bool,
}

/// `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl ModelFiles {
    pub(super) fn read(folder: &Path) -> Result<ModelFiles, FolderError> {
        if !folder.is_dir() {
            return Err(FolderError::NoFolder(folder.to_path_buf()));
        }
        let must = |file| bytes(folder, file)?.ok_or(FolderError::NoFile { folder: folder.to_path_buf(), file });
        let (config, tokenizer) = (must("config.json")?, must("tokenizer.json")?);
        let (path, config) = (folder.join("config.json"), parsed::<Value>(folder, "config.json", &config)?);
        let kind = config["model_type"].as_str().unwrap_or("no model_type");
        if kind != "bert" {
            return Err(FolderError::OtherKind { file: path, what: format!("this is no BERT ({kind})") });
        }
        let config: bert::Config = serde_json::from_value(config)
            .map_err(|error| FolderError::Invalid { file: path.clone(), why: error.to_string() })?;
        if config.num_attention_heads == 0 {
            return Err(FolderError::Invalid { file: path, why: "num_attention_heads is 0".to_owned() });
        }
        check_modules(folder)?;
        let sentence: SentenceConfig = optional(folder, "sentence_bert_config.json")?.unwrap_or_default();
        let most = config.max_position_embeddings;
        Ok(ModelFiles {
            max_tokens: sentence.max_seq_length.map_or(most, |length| length.min(most)),
            lowercases: sentence.do_lower_case,
            weights: must("model.safetensors")?,
            config,
            tokenizer,
        })
    }
}

/// Refuses a model that does more than what is done here: the mean of all tokens, whose length a cosine does not see.
fn check_modules(folder: &Path) -> Result<(), FolderError> {
    let modules: Vec<Value> = optional(folder, "modules.json")?.unwrap_or_default();
    for module in &modules {
        let name = module["type"].as_str().unwrap_or_default().rsplit('.').next().unwrap_or_default();
        if !["Transformer", "Pooling", "Normalize"].contains(&name) {
            let what = format!("it has a module `{name}`");
            return Err(FolderError::OtherKind { file: folder.join("modules.json"), what });
        }
    }
    const POOLING: &str = "1_Pooling/config.json";
    let Some(pooling) = optional::<Value>(folder, POOLING)? else { return Ok(()) };
    let modes = pooling.as_object().into_iter().flatten();
    let modes: Vec<&str> = modes
        .filter_map(|(key, value)| match value {
            Value::Bool(true) => key.strip_prefix("pooling_mode_"),
            Value::String(mode) if key == "pooling_mode" => Some(mode),
            _ => None,
        })
        .collect();
    if modes.iter().any(|mode| !["mean", "mean_tokens"].contains(mode)) {
        let what = format!("its embedding is made by {}", modes.join(" and "));
        return Err(FolderError::OtherKind { file: folder.join(POOLING), what });
    }
    Ok(())
}

/// The bytes of a file; `None` where there is none.
fn bytes(folder: &Path, file: &str) -> Result<Option<Vec<u8>>, FolderError> {
    let path = folder.join(file);
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FolderError::Invalid { file: path, why: error.to_string() }),
    }
}

fn optional<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Option<T>, FolderError> {
    bytes(folder, file)?.map(|bytes| parsed(folder, file, &bytes)).transpose()
}

fn parsed<T: DeserializeOwned>(folder: &Path, file: &str, bytes: &[u8]) -> Result<T, FolderError> {
    serde_json::from_slice(bytes)
        .map_err(|error| FolderError::Invalid { file: folder.join(file), why: error.to_string() })
}
