//! A score from 0 to 10 by a criterion, in steps, as G-Eval asks for it (arXiv 2303.16634).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions, Scale};
use super::options::{JudgeUse, MetricOptions, OptionsProblem, judged_metric};
use super::{Metric, MetricInput};
use crate::score::{Score, Weight};

/// `geval`: how far a criterion is met, from 0 to 10, decided in steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "geval metric")]
pub struct GevalConfig {
    /// The subject of the score, in a sentence or two.
    pub criteria: String,
    /// The steps in which the judge decides. Default: the criterion alone
    #[schemars(inner(regex(pattern = r"\S")))]
    pub steps: Vec<String>,
    /// Whether the judge writes the steps by the criteria, once before the first conversation, where none are given. They are
    /// stored with the run; put them into the job to keep them the same from run to run. Default: false
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generate_steps: bool,
    /// Whether the score is the mean of all that the judge could have given, weighted by their probabilities, where its model tells
    /// them. No weighted score is quite 1: where `threshold` is 1, say false. Default: true
    #[serde(skip_serializing_if = "is_yes")]
    pub weighted: bool,
    /// Below this score the judge is asked once more, and the second score counts, whatever it is, as the Red Hat quickstart does
    /// it. `judging.samples`, whose scores are averaged, is sounder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub second_below: Option<Score>,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl Default for GevalConfig {
    fn default() -> GevalConfig {
        GevalConfig {
            criteria: String::new(),
            steps: Vec::new(),
            generate_steps: false,
            weighted: true,
            second_below: None,
            judging: JudgeOptions::default(),
        }
    }
}

fn is_yes(flag: &bool) -> bool {
    *flag
}

impl GevalConfig {
    /// Whether the judge is to write its steps.
    pub fn needs_steps(&self) -> bool {
        self.generate_steps && self.steps.is_empty()
    }
}

impl MetricOptions for GevalConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let has_no_criteria = self.criteria.trim().is_empty();
        let (key, message) = match (self.generate_steps, self.steps.is_empty()) {
            (_, true) if has_no_criteria => ("criteria", "geval needs `criteria`, what is scored, or `steps`, how"),
            (true, false) => {
                ("generateSteps", "the steps of this geval metric are given: leave out `generateSteps`, or `steps`")
            }
            _ => return None,
        };
        Some(OptionsProblem::new(key, message))
    }
}

impl JudgeMeasure for GevalConfig {
    const NAME: &'static str = "geval";
    const TEMPLATE: &'static str = "judge/geval";

    fn scale(&self) -> Scale {
        Scale::Ten
    }

    fn items(&self, _input: &MetricInput<'_>) -> JudgeItems {
        let text = if self.criteria.trim().is_empty() { self.steps.join(" ") } else { self.criteria.clone() };
        JudgeItems::Given(vec![JudgeItem::new("1", text, None)])
    }

    fn second_below(&self) -> Option<Score> {
        self.second_below
    }

    fn is_weighted(&self) -> bool {
        // Red Hat's own models tell no probabilities.
        self.weighted && !self.judging.strict
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
}
