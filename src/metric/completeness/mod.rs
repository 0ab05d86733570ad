//! Whether everything that the user wanted was met.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{JudgeItems, JudgeMeasure, JudgeOptions};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};
use crate::score::{Component, Score, Weight};

/// `completeness`: whether the agent met everything that the user wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "completeness metric")]
pub struct CompletenessConfig {
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl MetricOptions for CompletenessConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }
}

impl JudgeMeasure for CompletenessConfig {
    const NAME: &'static str = "completeness";
    const TEMPLATE: &'static str = "judge/completeness";

    fn items(&self, _input: &MetricInput<'_>) -> JudgeItems {
        JudgeItems::Found
    }

    fn finds_items(&self) -> bool {
        true
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }

    fn score_of_nothing(&self) -> Component {
        match self.judging.strict {
            true => Component::scored(Score::ONE, "nothing was found that the user wanted"),
            false => Component::not_applicable("the judge found nothing that the user wanted"),
        }
    }
}
