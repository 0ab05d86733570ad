//! Whether the sentences of the agent's replies are supported by what it could know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{
    EvidenceRule, JudgeItems, JudgeMeasure, JudgeOptions, Scale, exchanges, mean_over_replies, sentence_items,
};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};
use crate::score::{Component, Item, Weight, weighted_mean};

/// `hallucination`: whether each sentence of the replies is supported by what the user said, the tools returned, the facts and the
/// context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "hallucination metric")]
pub struct HallucinationConfig {
    /// The averaged items: the sentences of all replies, or the replies, each being the mean of its sentences, as ADK and
    /// trpc-agent-go do it. Default: sentences
    #[serde(skip_serializing_if = "MeanOver::is_sentences")]
    pub mean_over: MeanOver,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

/// The averaged items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MeanOver {
    /// The sentences of all replies.
    #[default]
    Sentences,
    /// The replies.
    Replies,
}

impl MeanOver {
    fn is_sentences(&self) -> bool {
        *self == MeanOver::Sentences
    }
}

impl MetricOptions for HallucinationConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }
}

impl JudgeMeasure for HallucinationConfig {
    const NAME: &'static str = "hallucination";
    const TEMPLATE: &'static str = "judge/hallucination";

    fn scale(&self) -> Scale {
        Scale::Support
    }

    fn evidence(&self) -> EvidenceRule {
        EvidenceRule::NotTheAgents
    }

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        sentence_items(&exchanges(input.transcript, true))
    }

    fn mean_of(&self, items: &[&Item]) -> Component {
        match self.mean_over {
            MeanOver::Sentences => {
                weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)))
            }
            MeanOver::Replies => mean_over_replies(items),
        }
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
}

/// The sentences between the tags of a reply that marks them, `<sentence>…</sentence>`, as ADK asks its judge to.
pub fn marked_sentences(reply: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = reply;
    while let Some((_, after)) = rest.split_once("<sentence>") {
        let Some((sentence, behind)) = after.split_once("</sentence>") else { break };
        all.push(sentence);
        rest = behind;
    }
    all
}
