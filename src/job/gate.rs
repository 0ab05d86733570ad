//! `gate`: when a run counts as failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::score::{AssertionGate, GateRules, OnInconclusive, Score, VacuousGate};

/// When the run counts as failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "gate")]
pub struct Gate {
    /// The job's figure must be at least this, 0 to 1.
    #[serde(default)]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub min_score: Option<Score>,
    /// The effect of an assertion that can't fail: one that holds before the conversation, on an empty graph, and
    /// after.
    #[serde(default)]
    pub vacuous: VacuousGate,
    /// A folder of conversations that are known to be bad or good, from the job's folder: the judge must tell them apart before
    /// the job is run, or it is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub canaries: Option<String>,
    /// The most that an agent may get which does nothing, 0 to 1: it is tried before the job is run, or the job is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub max_trivial_score: Option<Score>,
    /// The least share of the conversations in which the persona played its part, 0 to 1; below it the run is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub min_validity: Option<Score>,
    /// `all`: every assertion must hold in every conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AssertionGate>")]
    pub assertions: Option<AssertionGate>,
    /// A baseline (`eval-job baseline set main RUN`): the score must not have dropped from that run's by more than `maxDrop`.
    /// Conversations are compared pair by pair
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub baseline: Option<String>,
    /// The drop from the baseline that is allowed, 0 to 1. Default: 0.03
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub max_drop: Option<Score>,
    /// The largest share of the repeated cases that may pass in one repetition and fail in another, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub max_flake: Option<Score>,
    /// The least share of its conversations in which each case must pass, over repetitions and conditions, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub min_pass_rate: Option<Score>,
    /// Milliseconds within which 95 of 100 replies must come.
    #[serde(default, rename = "latencyP95", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0, "maximum" = 31_536_000_000_u64))]
    pub latency_p95_ms: Option<f64>,
    /// What it means that so few conversations show neither that the score dropped nor that it did not: `tell` ends with status
    /// 101, `pass` lets it pass, `fail` does not.
    #[serde(default, skip_serializing_if = "OnInconclusive::is_inconclusive")]
    pub on_inconclusive: OnInconclusive,
}

impl Gate {
    /// The rules beside the least score.
    pub fn rules(&self) -> GateRules {
        GateRules {
            assertions: self.assertions,
            baseline: self.baseline.clone(),
            max_drop: self.max_drop,
            max_flake: self.max_flake,
            min_pass_rate: self.min_pass_rate,
            latency_p95_ms: self.latency_p95_ms,
            on_inconclusive: self.on_inconclusive,
        }
    }
}
