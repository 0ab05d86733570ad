//! The summary of a run, without its conversations.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{FORMAT_VERSION, ModelFigure, Provenance, Verdict};

/// The summary of a run, without its conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// The format's version.
    pub version: u32,
    /// The run's id.
    pub id: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` when it was killed.
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether its user stopped it.
    pub interrupted: bool,
    /// The limit of the whole run that ended it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_reached: Option<String>,
    /// The job, models, prompts and limits of the run.
    pub provenance: Provenance,
    /// Each model's figure, with those of its cases and conditions.
    pub figures: Vec<ModelFigure>,
    /// The verdict on the run.
    pub verdict: Verdict,
}

impl RunSummary {
    /// Whether this version of eval-job can read it.
    pub fn is_readable(&self) -> bool {
        self.version <= FORMAT_VERSION
    }
}
