//! The rules of the gate that need more than one number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Score;

/// The rules of the gate beside the least score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GateRules {
    /// Which assertions must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<AssertionGate>,
    /// The run from whose score the score may not drop, by the name of its baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The drop that is allowed, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_drop: Option<Score>,
    /// The largest share of repeated cases that may pass in one repetition and fail in another, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_flake: Option<Score>,
    /// The least share of the conversations about each case that must pass, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_pass_rate: Option<Score>,
    /// Milliseconds within which 95 of 100 replies must come.
    #[serde(rename = "latencyP95", skip_serializing_if = "Option::is_none")]
    pub latency_p95_ms: Option<f64>,
    /// The consequence of a rule that is neither shown to be kept nor to be broken.
    #[serde(skip_serializing_if = "OnInconclusive::is_inconclusive")]
    pub on_inconclusive: OnInconclusive,
}

impl GateRules {
    /// The drop that is allowed where a baseline is named and no drop.
    pub const MAX_DROP: f64 = 0.03;

    /// The drop that is allowed.
    pub fn allowed_drop(&self) -> f64 {
        self.max_drop.map_or(GateRules::MAX_DROP, Score::get)
    }
}

/// Which assertions must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AssertionGate {
    /// All of them, in every conversation.
    All,
}

/// The consequence of a rule that is neither shown to be kept nor to be broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnInconclusive {
    /// The run is inconclusive (status 101).
    #[default]
    Tell,
    /// The gate is passed.
    Pass,
    /// The gate fails.
    Fail,
}

impl OnInconclusive {
    /// Whether the run is inconclusive then.
    pub fn is_inconclusive(&self) -> bool {
        *self == OnInconclusive::Tell
    }
}
