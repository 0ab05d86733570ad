//! Whether the simulated user kept to its part. It says nothing of the agent, and counts in no composite.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::judged::{JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};
use crate::evidence::Turn;
use crate::score::{Component, Item, Score, Weight};

/// The name of ADK's metric that reads the signs of a behaviour in its files.
const OF_ADK: &str = "per_turn_user_simulator_quality_v1";

/// The id of the item that is about the end.
const END: &str = "end";

/// `simulatedUser`: whether each message of the simulated user keeps to its tasks, its plan and its traits, and whether it ended
/// the conversation at the right moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "simulatedUser metric")]
pub struct SimulatedUserConfig {
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl MetricOptions for SimulatedUserConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }
}

impl JudgeMeasure for SimulatedUserConfig {
    const NAME: &'static str = "simulatedUser";
    const TEMPLATE: &'static str = "judge/simulated_user";

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        if !input.user.is_simulated {
            return JudgeItems::Nothing(Component::not_applicable("the user's messages are fixed"));
        }
        let message = |turn: &Turn| {
            let text = format!("the user's message of turn {}", turn.number);
            JudgeItem::new(turn.number.to_string(), text, Some(turn.number))
        };
        let spoken = input.transcript.turns.iter().filter(|turn| !turn.is_greeting());
        let mut items: Vec<JudgeItem> = spoken.map(message).collect();
        items.push(JudgeItem::new(END, "the user ends the conversation after its last message", None));
        JudgeItems::Given(items)
    }

    fn template_options(&self, input: &MetricInput<'_>) -> Value {
        let rubrics = input.expected.map(|expected| expected.rubrics.as_slice()).unwrap_or_default();
        let is_own = |name: &Option<String>| name.as_deref().is_some_and(|name| [OF_ADK, Self::NAME].contains(&name));
        let signs: Vec<&str> =
            rubrics.iter().filter(|rubric| is_own(&rubric.metric)).map(|rubric| rubric.text.as_str()).collect();
        let tasks: Vec<&str> = input.tasks.iter().map(|task| task.task).collect();
        json!({ "tasks": tasks, "plan": input.user.plan, "traits": input.user.traits, "signs": signs })
    }

    /// A fixed message is what it is, and whether the agent answered says nothing of the user.
    fn score_without_judge(&self, input: &MetricInput<'_>, item: &JudgeItem) -> Option<Component> {
        let place = item.turn?.checked_sub(1)? as usize;
        let fixed = input.user.opening.get(place)?;
        let turn = input.transcript.turns.iter().find(|turn| Some(turn.number) == item.turn)?;
        Some(match turn.user.trim() == fixed.trim() {
            true => Component::scored(Score::ONE, "it is the message that the case begins with"),
            false => Component::scored(Score::ZERO, "it is not the message that the case begins with"),
        })
    }

    fn score_of_silence(&self) -> Component {
        Component::not_applicable("the agent never replied")
    }

    /// As in ADK: a wrong end makes the last message wrong, and in its dialect a message without a usable verdict is one, too,
    /// where any verdict can be used.
    fn settle(&self, items: &mut Vec<Item>, is_judged: bool) {
        let end = items.iter().position(|item| item.turn.is_none()).map(|at| items.remove(at));
        if let (Some(end), Some(last)) = (end, items.last_mut())
            && (end.component.score() == Some(Score::ZERO)
                || (end.component.is_missing() && !(self.judging.strict && is_judged)))
        {
            last.component = match end.component {
                Component::Scored { score, why, unstable } => {
                    Component::scored(score, format!("the end: {why}")).unstable_if(unstable)
                }
                other => other,
            };
        }
        for item in items.iter_mut().filter(|item| self.judging.strict && is_judged && item.component.is_missing()) {
            item.component = Component::scored(Score::ZERO, format!("counted as wrong: {}", item.component.why()));
        }
    }

    fn is_about_agent(&self) -> bool {
        false
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
}
