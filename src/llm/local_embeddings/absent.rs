//! Stands for local embeddings in a build without the feature `local-embeddings`: they can't be made.

mod config;

use async_trait::async_trait;

use super::{Llm, LlmError, LlmReply, LlmRequest, UsageMeter};

pub use config::LocalEmbeddingsConfig;

/// There is none.
pub enum LocalEmbeddings {}

impl LocalEmbeddings {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn load(_: LocalEmbeddingsConfig) -> Result<LocalEmbeddings, LlmError> {
        Err(LlmError::for_good(LocalEmbeddingsConfig::ABSENT.unwrap_or_default().to_owned()))
    }
}

#[async_trait]
impl Llm for LocalEmbeddings {
    fn name(&self) -> &str {
        match *self {}
    }

    async fn complete_metered(&self, _: &LlmRequest, _: &UsageMeter) -> Result<LlmReply, LlmError> {
        match *self {}
    }
}
