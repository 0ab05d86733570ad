//! A model of embeddings on this machine: a folder of sentence-transformers with a BERT in it, like all-MiniLM-L6-v2.
//!
//! In: a JSON list of two texts. Out: `{"cosine": 0.83}`, as an endpoint's embeddings answer. Nothing is sent and nothing is
//! paid; the whole folder is read before the first conversation, so that no run begins with one that can't work.

mod config;
mod encoder;
mod folder;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::cosine::cosine;
use super::{Llm, LlmError, LlmReply, LlmRequest, UsageMeter};
use crate::evidence::Usage;
use encoder::Encoder;

pub use config::LocalEmbeddingsConfig;

/// A local model of embeddings.
pub struct LocalEmbeddings {
    name: String,
    encoder: Arc<Encoder>,
}

impl LocalEmbeddings {
    /// Reads the model.
    ///
    /// # Errors
    /// The folder or one of its files is missing, or holds a model of another kind.
    pub fn load(config: LocalEmbeddingsConfig) -> Result<LocalEmbeddings, LlmError> {
        let encoder = Encoder::load(&config.folder)
            .map_err(|error| LlmError::for_good(format!("scorer.embeddings.folder: {error}")))?;
        Ok(LocalEmbeddings { name: config.name, encoder: Arc::new(encoder) })
    }
}

#[async_trait]
impl Llm for LocalEmbeddings {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete_metered(&self, request: &LlmRequest, _: &UsageMeter) -> Result<LlmReply, LlmError> {
        let content = request.messages.first().map(|message| message.content.as_str()).unwrap_or_default();
        let texts: [String; 2] = serde_json::from_str(content)
            .map_err(|error| LlmError::for_good(format!("embeddings compare two texts: {error}")))?;
        let encoder = Arc::clone(&self.encoder);
        let cosine = tokio::task::spawn_blocking(move || compare(&encoder, &texts))
            .await
            .map_err(|error| LlmError::for_good(format!("the local model of embeddings failed: {error}")))??;
        Ok(LlmReply {
            text: json!({ "cosine": cosine }).to_string(),
            usage: Usage::default(),
            notes: Vec::new(),
            tokens: Vec::new(),
            is_cached: false,
        })
    }
}

/// The cosine of the embeddings of two texts.
fn compare(encoder: &Encoder, [one, other]: &[String; 2]) -> Result<f64, LlmError> {
    let embed = |text| {
        encoder
            .embed(text)
            .map_err(|error| LlmError::for_good(format!("the local model of embeddings failed: {error}")))
    };
    cosine(&embed(one)?, &embed(other)?)
        .ok_or_else(|| LlmError::for_good("the embeddings of both texts have no cosine".to_owned()))
}

#[cfg(test)]
mod tests;
