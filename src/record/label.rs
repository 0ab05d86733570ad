//! A person's verdict on something that a judge judged.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::evidence::TrialId;

/// A person's verdict on something that a judge judged, as it is kept beside the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// The format's version: 1.
    pub version: u32,
    /// When it was given.
    pub at: DateTime<Utc>,
    /// The person who gave it.
    pub by: String,
    /// The conversation.
    pub trial: TrialId,
    /// The dimension's name.
    pub metric: String,
    /// The part of it: an item's id or label; `None` for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The turn that the part is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The verdict.
    pub verdict: LabelVerdict,
}

/// The person's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LabelVerdict {
    /// It holds, it was done.
    Yes,
    /// It does not, it was not.
    No,
    /// The person can't say.
    Unclear,
}

/// The version of the labels' format.
pub const LABEL_VERSION: u32 = 1;

impl Label {
    /// Whether both are about the same part of the same conversation.
    pub fn is_about(&self, trial: u32, metric: &str, item: Option<&str>, turn: Option<u32>) -> bool {
        self.trial.number == trial && self.metric == metric && self.item.as_deref() == item && self.turn == turn
    }
}
