//! The settings of a local model of embeddings.

use std::path::PathBuf;

/// Where a local model of embeddings is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalEmbeddingsConfig {
    /// The model's name in records: its folder as the job writes it.
    pub name: String,
    /// Its folder, as it is found from here.
    pub folder: PathBuf,
}

impl LocalEmbeddingsConfig {
    /// Why this build has none; `None` where it has.
    pub const ABSENT: Option<&'static str> = match cfg!(feature = "local-embeddings") {
        true => None,
        false => Some("this eval-job was built without local embeddings (the feature `local-embeddings`)"),
    };
}
