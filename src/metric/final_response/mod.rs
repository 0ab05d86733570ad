//! Whether replies are as good as the expected ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged::{EvidenceRule, JudgeItem, JudgeItems, JudgeMeasure, JudgeOptions, exchanges};
use super::options::{JudgeUse, MetricOptions, judged_metric};
use super::{Metric, MetricInput};
use crate::score::{Component, Weight};

/// `finalResponse`: whether each reply is as good as the expected one: `expected.reply` of the case and of the lines of its script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "finalResponse metric")]
pub struct FinalResponseConfig {
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl MetricOptions for FinalResponseConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        judged_metric(self, weight)
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByTemplate
    }
}

impl JudgeMeasure for FinalResponseConfig {
    const NAME: &'static str = "finalResponse";
    const TEMPLATE: &'static str = "judge/final_response";

    fn evidence(&self) -> EvidenceRule {
        EvidenceRule::TheReply
    }

    fn items(&self, input: &MetricInput<'_>) -> JudgeItems {
        let item = |(turn, expected): (Option<u32>, &str)| {
            let turn = turn.or_else(|| exchanges(input.transcript, self.judging.strict).last().map(|turn| turn.number));
            let id = turn.map_or_else(|| "last".to_owned(), |turn| turn.to_string());
            JudgeItem::new(id, format!("As good as: {expected}"), turn)
        };
        let mut items: Vec<JudgeItem> = expected_replies(input).into_iter().map(item).collect();
        // The case's own is that of the last turn, which a line may expect too.
        items.dedup_by(|case, line| case.id == line.id);
        match items.is_empty() {
            true => JudgeItems::Nothing(Component::not_applicable("the case expects no reply")),
            false => JudgeItems::Given(items),
        }
    }

    fn judging(&self) -> &JudgeOptions {
        &self.judging
    }
}

fn expected_replies<'a>(input: &'a MetricInput<'_>) -> Vec<(Option<u32>, &'a str)> {
    let lines = input.lines.iter().filter_map(|line| Some((Some(line.turn), line.expected.reply.as_deref()?)));
    let whole = input.expected.and_then(|expected| Some((None, expected.reply.as_deref()?)));
    lines.chain(whole).collect()
}
