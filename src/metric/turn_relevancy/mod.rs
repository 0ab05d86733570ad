//! Whether each reply, or each statement of it, is relevant to the user's messages before it.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{
    JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions, exchanges, mean_over_replies, sentence_items, units, windows,
};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};

use crate::evidence::{EventKind, Role, Turn};
use crate::score::{Component, Item, Score, Weight, weighted_mean};

/// `turnRelevancy`: whether each reply is relevant to what the user had said by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "turnRelevancy metric")]
pub struct TurnRelevancyConfig {
    /// How many turns the reply may be about: its own and those before it.
    #[schemars(range(min = 1))]
    pub window_size: u32,
    /// What is relevant or not: a reply as a whole, or each of its statements. A reply's score is then the share of its relevant
    /// ones. Default: replies
    #[serde(skip_serializing_if = "RelevantPart::is_reply")]
    pub of: RelevantPart,
    /// Whether only replies count that the agent found in its knowledge base, where its transport tells that of any.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_searches: bool,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl Default for TurnRelevancyConfig {
    fn default() -> TurnRelevancyConfig {
        let (of, of_searches) = (RelevantPart::default(), false);
        TurnRelevancyConfig { window_size: 10, of, of_searches, judging: JudgeOptions::default() }
    }
}

/// What a judge finds relevant or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RelevantPart {
    /// Each reply.
    #[default]
    Replies,
    /// Each statement of a reply.
    Statements,
}

impl RelevantPart {
    fn is_reply(&self) -> bool {
        *self == RelevantPart::Replies
    }
}

/// Whether the agent answered from a search in its knowledge base, as watsonx Orchestrate's transport and recordings tell.
fn is_searched(turn: &Turn) -> bool {
    turn.events.iter().any(|event| match &event.kind {
        EventKind::Other { data } => {
            let kind = data.get("response_type").and_then(serde_json::Value::as_str);
            kind == Some("conversational_search") || data.get("conversational_search_metadata").is_some()
        }
        _ => false,
    })
}

impl TurnRelevancyConfig {
    /// The statements of the replies, or of those that were searched for.
    fn statements(&self, input: &MetricInput<'_>) -> JudgeItems {
        let mut turns = exchanges(input.transcript, true);
        if self.of_searches && (self.judging.strict || turns.iter().any(|turn| is_searched(turn))) {
            turns.retain(|turn| is_searched(turn));
        }
        match turns.is_empty() && self.of_searches {
            true => JudgeItems::Nothing(Component::not_applicable("no reply is from a search in a knowledge base")),
            false => sentence_items(&turns),
        }
    }

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
        if self.of == RelevantPart::Statements {
            return self.statements(input);
        }
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

    fn mean_of(&self, items: &[&Item]) -> Component {
        match self.of {
            RelevantPart::Replies => {
                weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)))
            }
            RelevantPart::Statements => mean_over_replies(items),
        }
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }

    fn score_of_nothing(&self) -> Component {
        match self.judging.strict && self.of == RelevantPart::Replies {
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
