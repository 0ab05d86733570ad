//! What was run of a trial before the conversation that counts.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::score::Outcome;

/// A conversation in which the persona did not play its part; it was run again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discarded {
    /// When its setups began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The persona's fault.
    pub error: String,
    /// The evidence, as far as it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// A conversation that was cut off, or said nothing about the agent; it was run again after the run was resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// When its setups began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was over; `None` for one that was cut off.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it came out; `None` for one that was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The evidence, as far as it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The message that was on its way when it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

/// A break in a trial that was cut off and went on where it was, after the run was resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Continued {
    /// When it went on.
    pub at: DateTime<Utc>,
    /// When the run had stopped; `None` in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<DateTime<Utc>>,
    /// Whether a message was on its way, and was sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sent_again: bool,
}
