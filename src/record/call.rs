//! One call of one of our own models.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::evidence::Usage;

/// For whom a model was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asker {
    /// The persona: it poses as the user.
    Persona,
    /// The judge: it scores.
    Judge,
}

/// One call of one of our own models, its tries included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// When the answer was there.
    pub at: DateTime<Utc>,
    /// For whom.
    pub asker: Asker,
    /// Which model, `provider/model`.
    pub model: String,
    /// What it took; more than one call where a reply without words was paid for too.
    pub usage: Usage,
}
