//! Sentences that must hold of the agent, each decided by a judge: of the whole conversation, of each turn, or of the last one.

mod criterion;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use criterion::Rubric;

use super::judged::{EvidenceRule, JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions};
use super::options::{JudgeUse, MetricOptions, OptionsProblem, judged_metric};
use super::{Metric, MetricInput, judged};
use crate::evidence::Turn;
use crate::score::{Component, Weight};

/// The subject of a rubric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RubricScope {
    /// The whole conversation.
    #[default]
    Conversation,
    /// Each turn.
    Turns,
    /// Each message of the agent's, also those before its reply.
    Messages,
    /// The last turn.
    LastTurn,
}

/// `rubric`: what must hold, as a judge sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "rubric metric")]
pub struct RubricConfig {
    /// The requirement in every case, beside the rubrics of the case: `expected.rubrics`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
    /// The subject of the rubrics: the whole conversation, each turn, each message of the agent's (also those before its reply), or
    /// the last turn. Those of a line are about its turn.
    pub scope: RubricScope,
    /// The type of the case's rubrics that it uses, beside those without one. Default: any type
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub rubric_type: Option<String>,
    /// Whether the judge is shown the reply that is expected of the turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub show_expected: bool,
    /// Tools that look things up: the rubrics are about what they returned, and a verdict that one holds must quote it. Default:
    /// the rubrics are about the assistant
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub retrieved_by: Vec<String>,
    /// The metric's name in reports, by which a rubric names it as its only metric; set once the job is read.
    #[serde(skip_deserializing, skip_serializing_if = "String::is_empty")]
    #[schemars(skip)]
    pub(super) label: String,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

/// A rubric with the id of another one of the same metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameId {
    /// The id.
    pub id: String,
    /// The place of the line that expects it, from 0; `None` for the whole case.
    pub line: Option<usize>,
    /// Its place in the list, from 0.
    pub rubric: usize,
}

impl RubricConfig {
    /// Whether a rubric of a case or a line is for the metric of this name.
    pub fn is_for(&self, rubric: &Rubric, label: &str) -> bool {
        let is_of_type = match (&self.rubric_type, &rubric.rubric_type) {
            (Some(own), Some(other)) => own.eq_ignore_ascii_case(other),
            // ADK has a rubric without a type judged by no metric.
            (Some(_), None) => !self.judging.strict,
            (None, _) => true,
        };
        is_of_type && rubric.metric.as_deref().is_none_or(|metric| metric == label)
    }

    fn takes(&self, rubric: &Rubric) -> bool {
        self.is_for(rubric, &self.label)
    }

    /// The rubrics of a case and of its lines with the id of another one that the metric of this name asks about in the same
    /// place.
    pub fn same_ids<'r>(&'r self, label: &str, whole: &'r [Rubric], lines: &[&'r [Rubric]]) -> Vec<SameId> {
        let mut general: BTreeSet<&str> = self.rubrics.iter().map(|rubric| rubric.id.as_str()).collect();
        let mut found = self.known_ids(label, None, whole, &mut general);
        for (rubrics, line) in lines.iter().zip(0..) {
            let is_about_turn = match self.scope {
                RubricScope::Conversation => false,
                RubricScope::Turns | RubricScope::Messages => true,
                RubricScope::LastTurn => line + 1 == lines.len(),
            };
            let mut of_turn = if is_about_turn { general.clone() } else { BTreeSet::new() };
            found.extend(self.known_ids(label, Some(line), rubrics, &mut of_turn));
        }
        found
    }

    /// The ids of rubrics that are known already; those of the others are added.
    fn known_ids<'r>(
        &'r self,
        label: &str,
        line: Option<usize>,
        rubrics: &'r [Rubric],
        known: &mut BTreeSet<&'r str>,
    ) -> Vec<SameId> {
        let own = rubrics.iter().enumerate().filter(|(_, rubric)| self.is_for(rubric, label));
        own.filter(|(_, rubric)| !known.insert(&rubric.id))
            .map(|(at, rubric)| SameId { id: rubric.id.clone(), line, rubric: at })
            .collect()
    }

    /// The rubrics of this scope as items, each with the turn that it is about.
    fn items_in_scope(&self, rubrics: &[&Rubric], turns: &[&Turn]) -> Vec<JudgeItem> {
        let about = |turn: Option<&Turn>| {
            let number = turn.map(|turn| turn.number);
            rubrics.iter().map(move |rubric| item(rubric, number)).collect::<Vec<_>>()
        };
        match self.scope {
            RubricScope::Conversation => about(None),
            RubricScope::Turns => turns.iter().flat_map(|turn| about(Some(turn))).collect(),
            RubricScope::Messages => turns.iter().flat_map(|turn| of_messages(rubrics, turn)).collect(),
            RubricScope::LastTurn => turns.last().map(|turn| about(Some(turn))).unwrap_or_default(),
        }
    }
}

impl MetricOptions for RubricConfig {
    fn metric(&self, weight: Weight, label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(&RubricConfig { label: label.to_owned(), ..self.clone() }, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let mut ids: Vec<&str> = self.rubrics.iter().map(|rubric| rubric.id.as_str()).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(OptionsProblem::new("rubrics", format!("two rubrics have the id `{}`", twice[0])))
    }
}

impl JudgeMeasure for RubricConfig {
    const NAME: &'static str = "rubric";
    const TEMPLATE: &'static str = "judge/rubric";

    fn evidence(&self) -> EvidenceRule {
        if self.retrieved_by.is_empty() { EvidenceRule::Any } else { EvidenceRule::Retrieved }
    }

    fn retrieving_tools(&self) -> &[String] {
        &self.retrieved_by
    }

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        let of_case = input.expected.map(|expected| expected.rubrics.as_slice()).unwrap_or_default();
        let general: Vec<&Rubric> =
            self.rubrics.iter().chain(of_case.iter().filter(|rubric| self.takes(rubric))).collect();
        let turns = judged::exchanges(input.transcript, self.judging.strict);
        let mut items = self.items_in_scope(&general, &turns);
        for line in &input.lines {
            let own: Vec<&Rubric> = line.expected.rubrics.iter().filter(|rubric| self.takes(rubric)).collect();
            match turns.iter().find(|turn| turn.number == line.turn) {
                Some(turn) if self.by_message() => items.extend(of_messages(&own, turn)),
                _ => items.extend(own.into_iter().map(|rubric| item(rubric, Some(line.turn)))),
            }
        }
        if self.show_expected {
            items.iter_mut().for_each(|item| show_expected(item, input));
        }
        let mut ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        ids.sort_unstable();
        if items.is_empty() {
            return JudgeItems::Nothing(Component::not_applicable("no rubrics are given for it"));
        }
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return JudgeItems::Nothing(Component::missing("two of its rubrics have the same id"));
        }
        JudgeItems::Given(items)
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }

    fn by_message(&self) -> bool {
        self.scope == RubricScope::Messages
    }

    /// A turn that broke off after a message has no reply, and yet there is something to judge.
    fn score_without_judge(&self, input: &MetricInput<'_>, item: &JudgeItem) -> Option<Component> {
        let is_of_item = |turn: &&Turn| Some(turn.number) == item.turn;
        let turn = input.transcript.turns.iter().find(is_of_item).filter(|_| self.by_message());
        let is_silent = turn.is_none_or(|turn| turn.agent_messages().is_empty());
        judged::unanswered(input, item.turn).filter(|_| is_silent && !self.judging.strict)
    }
}

/// The id of the item that is about a message: of the rubric, the turn, and the message's place in it, from 1.
pub(super) fn message_item_id(rubric: &str, turn: u32, place: usize) -> String {
    format!("{rubric}@{turn}.{place}")
}

/// Rubrics of each message of a turn, as items; of the turn, where there is none.
fn of_messages(rubrics: &[&Rubric], turn: &Turn) -> Vec<JudgeItem> {
    let of_message = |place: usize| {
        rubrics.iter().map(move |rubric| {
            let id = message_item_id(&rubric.id, turn.number, place);
            let about = item(rubric, Some(turn.number));
            let text = format!("The agent's message {place} in this turn: {}", about.text);
            JudgeItem { id, text, message: Some(place), ..about }
        })
    };
    match turn.agent_messages().len() {
        0 => rubrics.iter().map(|rubric| item(rubric, Some(turn.number))).collect(),
        count => (1..=count).flat_map(of_message).collect(),
    }
}

/// Adds the reply that is expected of an item's turn, where one is.
fn show_expected(item: &mut JudgeItem, input: &MetricInput<'_>) {
    let line = input.lines.iter().find(|line| Some(line.turn) == item.turn);
    let expected = line.and_then(|line| line.expected.reply.as_deref());
    let expected = expected.or_else(|| input.expected?.reply.as_deref());
    if let Some(expected) = expected {
        item.text.push_str(&format!(" (The expected reply: {expected})"));
    }
}

fn item(rubric: &Rubric, turn: Option<u32>) -> JudgeItem {
    let id = turn.map_or_else(|| rubric.id.clone(), |turn| format!("{}@{turn}", rubric.id));
    let text = match &rubric.description {
        Some(description) => format!("{} ({description})", rubric.text),
        None => rubric.text.clone(),
    };
    JudgeItem { weight: rubric.weight.unwrap_or(Weight::ONE), ..JudgeItem::new(id, text, turn) }
}
