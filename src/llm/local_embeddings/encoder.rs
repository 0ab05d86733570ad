//! From a text to its embedding: tokens, BERT, and the mean over all tokens.

use std::path::Path;

use candle_core::{DType, Device, Error, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use tokenizers::{Tokenizer, TruncationParams};

use super::folder::{FolderError, ModelFiles};

/// Why a text has no embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EmbeddingError {
    /// The tokenizer makes nothing of it.
    #[error("the text has no tokens")]
    NoTokens,
    /// The tokenizer or the model failed: the first line of its error.
    #[error("{0}")]
    Failed(String),
}

impl EmbeddingError {
    fn failed(error: &dyn std::fmt::Display) -> EmbeddingError {
        EmbeddingError::Failed(first_line(error))
    }
}

/// A BERT with its tokenizer.
pub(super) struct Encoder {
    bert: BertModel,
    tokenizer: Tokenizer,
    lowercases: bool,
}

impl Encoder {
    /// Reads the model of a folder, and tries it once.
    pub(super) fn load(folder: &Path) -> Result<Encoder, FolderError> {
        let ModelFiles { config, tokenizer, weights, max_tokens, lowercases } = ModelFiles::read(folder)?;
        let invalid = |file: &str, why: String| FolderError::Invalid { file: folder.join(file), why };
        let tokenizer =
            read_tokenizer(&tokenizer, max_tokens).map_err(|error| invalid("tokenizer.json", first_line(&error)))?;
        let bert = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|error| invalid("model.safetensors", first_line(&error)))?;
        let encoder = Encoder { bert, tokenizer, lowercases };
        encoder
            .embed("A text.")
            .map_err(|why| invalid("tokenizer.json", format!("it does not fit the weights beside it: {why}")))?;
        Ok(encoder)
    }

    /// The embedding of a text.
    pub(super) fn embed(&self, text: &str) -> Result<Vec<f64>, EmbeddingError> {
        let lowercase = self.lowercases.then(|| text.to_lowercase());
        let encoding = self.tokenizer.encode(lowercase.as_deref().unwrap_or(text), true);
        let tokens = encoding.map_err(|error| EmbeddingError::failed(&error))?.get_ids().to_vec();
        if tokens.is_empty() {
            return Err(EmbeddingError::NoTokens);
        }
        self.mean(&tokens).map_err(|error| EmbeddingError::failed(&error))
    }

    /// The mean over all tokens of what BERT makes of them. One text at a time, so none of them is padding.
    fn mean(&self, tokens: &[u32]) -> Result<Vec<f64>, Error> {
        let tokens = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?;
        let states = self.bert.forward(&tokens, &tokens.zeros_like()?, None)?;
        states.squeeze(0)?.to_dtype(DType::F64)?.mean(0)?.to_vec1()
    }
}

/// The tokenizer, without the padding to a batch that its file may ask for.
fn read_tokenizer(bytes: &[u8], max_tokens: usize) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_padding(None);
    // Room for what the tokenizer itself adds: no room is a panic.
    let truncation = TruncationParams { max_length: max_tokens.max(8), ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation))?;
    Ok(tokenizer)
}

/// The error without the backtrace that candle may add.
fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
