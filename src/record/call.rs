//! One call of one of our own models.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::evidence::Usage;

/// The role for which a model was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asker {
    /// The persona: it poses as the user.
    Persona,
    /// The reviewer: it reads the persona's messages before they are sent.
    Reviewer,
    /// The judge: it scores.
    Judge,
}

/// One call of one of our own models, its tries included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// When the answer was there.
    pub at: DateTime<Utc>,
    /// The role for which it was asked.
    pub asker: Asker,
    /// Which model, `provider/model`.
    pub model: String,
    /// Its usage; more than one call where a blank reply was paid for too.
    pub usage: Usage,
}
