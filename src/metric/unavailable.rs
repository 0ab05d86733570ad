//! A metric that another system's file asks for and that can't be computed here: it is missing, with its reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::MetricOptions;
use super::{Metric, MetricInput};
use crate::evidence::Judgement;
use crate::score::{Component, Dimension, Weight};

/// A metric that can't be computed here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "unavailable metric")]
pub struct UnavailableConfig {
    /// Why not.
    pub why: String,
}

impl MetricOptions for UnavailableConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(UnavailableMetric { weight, why: self.why.clone() }))
    }
}

/// It is never scored and never passes.
#[derive(Debug, Clone)]
pub(super) struct UnavailableMetric {
    pub(super) weight: Weight,
    pub(super) why: String,
}

impl Metric for UnavailableMetric {
    fn name(&self) -> &'static str {
        "unavailable"
    }

    fn score(&self, _input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        Dimension::new(self.name(), self.weight, Component::missing(self.why.clone()))
    }
}
