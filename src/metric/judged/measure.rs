//! A judge metric's part of the work: its items, its scale, its options and its mean.

use serde::Serialize;
use serde_json::Value;

use super::{EvidenceRule, JudgeItem, JudgeItems, JudgeOptions, Scale, unanswered};
use crate::metric::MetricInput;
use crate::score::{Component, Item, Score, weighted_mean};

/// A metric of judges: what it asks, and by which scale.
pub(in crate::metric) trait JudgeMeasure: Serialize + Send + Sync {
    /// The metric's name.
    const NAME: &'static str;
    /// The template of its question.
    const TEMPLATE: &'static str;

    /// How the judge decides.
    fn scale(&self) -> Scale {
        Scale::YesNo
    }

    /// The evidence that its verdicts may rest on.
    fn evidence(&self) -> EvidenceRule {
        EvidenceRule::Any
    }

    /// Whether a good mark is about what the agent said or did.
    fn is_about_agent(&self) -> bool {
        true
    }

    /// The tools whose results are evidence where only what was retrieved is.
    fn retrieving_tools(&self) -> &[String] {
        &[]
    }

    /// The items that the judge decides on.
    fn items(&self, input: &MetricInput<'_>) -> JudgeItems;

    /// Whether the judge finds the items itself: those of several judges are not the same ones.
    fn finds_items(&self) -> bool {
        false
    }

    /// How judges are asked.
    fn judging(&self) -> &JudgeOptions;

    /// Whether it decides on each message of the agent's: the judge is shown them one by one, in their places among the calls.
    fn by_message(&self) -> bool {
        false
    }

    /// The variable `options` of its question's template.
    fn template_options(&self, _input: &MetricInput<'_>) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The score of an item for which no judge is needed; `None` of one that a judge decides on.
    fn score_without_judge(&self, input: &MetricInput<'_>, item: &JudgeItem) -> Option<Component> {
        unanswered(input, item.turn).filter(|_| !self.judging().strict)
    }

    /// The score where the agent never replied.
    fn score_of_silence(&self) -> Component {
        Component::scored(Score::ZERO, "the agent never replied")
    }

    /// Changes the items' scores where one depends on another; the flag says whether any verdict of the judge's can be used.
    fn settle(&self, _items: &mut Vec<Item>, _is_judged: bool) {}

    /// The score where the judge finds no items, or no verdict on them is left.
    fn score_of_nothing(&self) -> Component {
        Component::missing("no verdict can be used")
    }

    /// Whether a score is the mean of all that the judge could have given, by their probabilities.
    fn is_weighted(&self) -> bool {
        false
    }

    /// The score of a conversation by its items.
    fn mean_of(&self, items: &[&Item]) -> Component {
        weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)))
    }

    /// Below this score the judge is asked a second time, and the second verdict counts.
    fn second_below(&self) -> Option<Score> {
        None
    }
}
