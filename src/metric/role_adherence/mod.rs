//! Whether each reply keeps to the agent's role.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MetricInput;
use super::judged::{JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions};

use crate::evidence::Turn;
use crate::score::{Component, Score};

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
