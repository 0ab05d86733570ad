//! Whether each reply keeps to the agent's role.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions};
use super::options::{JudgeUse, MetricOptions, OptionsProblem, judged_metric};
use super::{Metric, MetricInput};

use crate::evidence::Turn;
use crate::score::{Component, Score, Weight};

/// `roleAdherence`: whether each reply keeps to the agent's role.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "roleAdherence metric")]
pub struct RoleAdherenceConfig {
    /// The agent's role, in a sentence or two.
    pub role: String,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl MetricOptions for RoleAdherenceConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let message = "roleAdherence needs `role`: who the agent is and what it is there for";
        self.role.trim().is_empty().then(|| OptionsProblem::new("role", message))
    }
}

impl JudgeMeasure for RoleAdherenceConfig {
    const NAME: &'static str = "roleAdherence";
    const TEMPLATE: &'static str = "judge/role_adherence";

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        let replies = input.transcript.turns.iter().filter(|turn| turn.agent.is_some() || !self.judging.strict);
        let item = |turn: &Turn| {
            let text = format!("the assistant's reply of turn {}", turn.number);
            JudgeItem::new(turn.number.to_string(), text, Some(turn.number))
        };
        JudgeItems::Given(replies.map(item).collect())
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }

    fn score_of_nothing(&self) -> Component {
        match self.judging.strict {
            true => Component::scored(Score::ONE, "no verdict speaks against it"),
            false => Component::missing("no verdict can be used"),
        }
    }
}
