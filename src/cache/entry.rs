//! A kept reply as a file: a line of JSON, and below it a line with its SHA-256.

use std::io;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::evidence::{ReplyToken, Usage};
use crate::llm::LlmReply;

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// A kept reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CacheEntry {
    pub(super) version: u32,
    /// SHA-256 of everything that decides about the reply, in hex.
    pub(super) key: String,
    pub(super) at: DateTime<Utc>,
    /// The model, with its provider.
    pub(super) model: String,
    /// Where it was asked, without credentials.
    pub(super) address: String,
    /// The usage of the reply when it was given.
    pub(super) usage: Usage,
    pub(super) reply: KeptReply,
}

/// The parts of a reply that are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptReply {
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tokens: Vec<ReplyToken>,
}

/// Why an entry can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum CacheEntryError {
    #[error("can't be read ({0})")]
    Unreadable(#[from] io::Error),
    #[error("is damaged: it is not what was written")]
    Damaged,
}

/// The part that entries of every version have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl KeptReply {
    /// The reply, for which nothing is taken now.
    pub(super) fn into_reply(self) -> LlmReply {
        let KeptReply { text, notes, tokens } = self;
        LlmReply { text, usage: Usage::default(), notes, tokens, is_cached: true }
    }
}

impl CacheEntry {
    /// The text of its file.
    pub(super) fn to_text(&self) -> io::Result<String> {
        let line = serde_json::to_string(self)?;
        Ok(format!("{line}\n{}\n", sha256(&line)))
    }

    /// Reads the text of a file; `None` for one that a newer version wrote.
    pub(super) fn from_text(bytes: &[u8], key: &str) -> Result<Option<CacheEntry>, CacheEntryError> {
        let text = std::str::from_utf8(bytes).map_err(|_| CacheEntryError::Damaged)?;
        let (line, digest) = text.split_once('\n').ok_or(CacheEntryError::Damaged)?;
        if digest.strip_suffix('\n') != Some(sha256(line).as_str()) {
            return Err(CacheEntryError::Damaged);
        }
        let read = |_| CacheEntryError::Damaged;
        if serde_json::from_str::<Versioned>(line).map_err(read)?.version > VERSION {
            return Ok(None);
        }
        let entry: CacheEntry = serde_json::from_str(line).map_err(read)?;
        if entry.key == key { Ok(Some(entry)) } else { Err(CacheEntryError::Damaged) }
    }
}

fn sha256(line: &str) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}
