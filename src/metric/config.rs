//! `metrics` and `weights`: what is measured, and how much each counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::score::Weight;

/// Something that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MetricKind {
    /// How fast the agent replies.
    Timing,
    /// How well the tasks were done, as a judge sees it.
    Tasks,
    /// How the agent spoke, as a judge sees it.
    Tone,
    /// Whether the assertions hold after the conversation.
    Assertions,
}

impl MetricKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [MetricKind; 4] = [MetricKind::Timing, MetricKind::Tasks, MetricKind::Tone, MetricKind::Assertions];

    /// Whether a judge is asked for it.
    pub fn asks_judge(self) -> bool {
        matches!(self, MetricKind::Tasks | MetricKind::Tone)
    }
}

/// How much each metric counts in the composite; 0 shows it and leaves it out. Defaults: Embabel's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "weights")]
pub struct Weights {
    /// How fast the agent replies.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000))]
    pub timing: Weight,
    /// How well the tasks were done.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000))]
    pub tasks: Weight,
    /// How the agent spoke.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000))]
    pub tone: Weight,
    /// Whether the assertions hold after the conversation.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000))]
    pub assertions: Weight,
}

impl Weights {
    /// The weight of a metric.
    pub fn weight(&self, kind: MetricKind) -> Weight {
        match kind {
            MetricKind::Timing => self.timing,
            MetricKind::Tasks => self.tasks,
            MetricKind::Tone => self.tone,
            MetricKind::Assertions => self.assertions,
        }
    }
}

const fn weight(value: f64) -> Weight {
    match Weight::new(value) {
        Some(weight) => weight,
        None => Weight::ONE,
    }
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { timing: weight(1.0), tasks: weight(2.0), tone: weight(0.0), assertions: weight(4.0) }
    }
}
