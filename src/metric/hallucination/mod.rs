//! Whether the sentences of the agent's replies are supported by what it could know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MetricInput;
use super::judged::{EvidenceRule, JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions, Scale, exchanges};
use crate::score::Component;
use crate::text::sentences;

/// The most sentences that are asked about in one question.
const MOST_SENTENCES: usize = 200;

/// `hallucination`: whether each sentence of the replies is supported by what the user said, the tools returned, the facts and the
/// context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "hallucination metric")]
pub struct HallucinationConfig {
    /// How judges are asked.
    pub judging: JudgeOptions,
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
        let turns = exchanges(input.transcript, true);
        let of_turn = |turn: &&crate::evidence::Turn| {
            let number = turn.number;
            let lines = turn.agent.as_deref().unwrap_or_default().lines();
            let sentences = lines.flat_map(sentences).filter(|it| it.chars().any(char::is_alphanumeric));
            let item =
                move |(sentence, at): (&str, usize)| JudgeItem::new(format!("{number}.{at}"), sentence, Some(number));
            sentences.zip(1..).map(item).collect::<Vec<_>>()
        };
        let items: Vec<JudgeItem> = turns.iter().flat_map(of_turn).collect();
        match items.len() {
            0 => JudgeItems::Nothing(Component::not_applicable("no reply has a sentence")),
            count if count > MOST_SENTENCES => JudgeItems::Nothing(Component::missing(format!(
                "the replies have {count} sentences; at most {MOST_SENTENCES} are judged"
            ))),
            _ => JudgeItems::Given(items),
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
