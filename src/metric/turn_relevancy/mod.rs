//! Whether each reply is relevant to the user's messages before it.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions, exchanges, units, windows};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};

use crate::evidence::{Role, Turn};
use crate::score::{Component, Score, Weight};

/// `turnRelevancy`: whether each reply is relevant to what the user had said by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "turnRelevancy metric")]
pub struct TurnRelevancyConfig {
    /// How many turns the reply may be about: its own and those before it.
    #[schemars(range(min = 1))]
    pub window_size: u32,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl Default for TurnRelevancyConfig {
    fn default() -> TurnRelevancyConfig {
        TurnRelevancyConfig { window_size: 10, judging: JudgeOptions::default() }
    }
}

impl TurnRelevancyConfig {
    fn window(&self) -> usize {
        usize::try_from(self.window_size).unwrap_or(usize::MAX)
    }
}

fn item(turn: u32, first: u32) -> JudgeItem {
    let text = format!("the assistant's reply of turn {turn}, by what was said from turn {first} on");
    JudgeItem::new(turn.to_string(), text, Some(turn))
}

impl MetricOptions for TurnRelevancyConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }
}

impl JudgeMeasure for TurnRelevancyConfig {
    const NAME: &'static str = "turnRelevancy";
    const TEMPLATE: &'static str = "judge/turn_relevancy";

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        if !self.judging.strict {
            let turns = exchanges(input.transcript, false);
            let windows = windows(turns.len(), self.window());
            let item =
                |(turn, window): (&&Turn, RangeInclusive<usize>)| item(turn.number, turns[*window.start()].number);
            return JudgeItems::Given(turns.iter().zip(windows).map(item).collect());
        }
        let messages: Vec<(u32, Role)> = input.transcript.turns.iter().flat_map(messages).collect();
        let roles: Vec<Role> = messages.iter().map(|(_, role)| *role).collect();
        let units = units(&roles);
        let windows = windows(units.len(), self.window());
        let turn_of = |unit: &[usize], last: bool| {
            let place = if last { unit.last() } else { unit.first() };
            place.map_or(0, |at| messages[*at].0)
        };
        let item = |(unit, window): (&Vec<usize>, RangeInclusive<usize>)| {
            item(turn_of(unit, true), turn_of(&units[*window.start()], false))
        };
        let items: Vec<JudgeItem> = units.iter().zip(windows).map(item).collect();
        if items.is_empty() { JudgeItems::Nothing(self.score_of_nothing()) } else { JudgeItems::Given(items) }
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

/// The messages of a turn, each with its number.
fn messages(turn: &Turn) -> impl Iterator<Item = (u32, Role)> {
    let user = (!turn.is_greeting()).then_some((turn.number, Role::User));
    let reply = turn.agent.as_ref().map(|_| (turn.number, Role::Assistant));
    user.into_iter().chain(reply)
}
