//! How judges are asked, for one metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Transcript;
use crate::metric::MetricInput;
use crate::score::Score;

/// What becomes of a verdict that is none of those that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UnknownVerdict {
    /// The judge is asked again, and then the item is missing.
    #[default]
    Missing,
    /// It is left out of the mean, as DeepEval 4, ADK and trpc-agent-go do.
    LeftOut,
    /// It holds, as DeepEval 3 counts whatever is not "no".
    Holds,
}

/// How judges are asked, for one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "judging")]
pub struct JudgeOptions {
    /// How often each judge is asked, instead of `scorer.samples`: the majority decides, a tie against the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 99))]
    pub samples: Option<u32>,
    /// As the system whose metric this is would decide: verdicts need no evidence, and one that can't be used is left out of the mean.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// What becomes of a verdict that is none of those that were asked for. Default: `missing`, and `leftOut` where it is strict
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownVerdict>,
    /// Where it is strict: a sample whose verdicts on a turn have a mean of at least this score is for the agent there, and the
    /// majority of whole samples decides, as trpc-agent-go does it. Default: each item is decided by the majority of its own verdicts
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub sample_from: Option<Score>,
    /// The user's message with which the conversation is over for this metric: neither it nor what follows it is judged. Default: the
    /// whole conversation is judged
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub until: Option<String>,
}

impl JudgeOptions {
    /// Whether a verdict must rest on words that were said, or on turns that were read.
    pub(super) fn needs_evidence(&self) -> bool {
        !self.strict
    }

    pub(super) fn unknown(&self) -> UnknownVerdict {
        let usual = if self.strict { UnknownVerdict::LeftOut } else { UnknownVerdict::Missing };
        self.unknown.unwrap_or(usual)
    }

    /// The part of a conversation that is judged; `None` for all of it.
    pub(super) fn judged_part(&self, transcript: &Transcript) -> Option<Transcript> {
        let marker = self.until.as_deref()?;
        let end = transcript.turns.iter().position(|turn| !turn.is_greeting() && turn.user.contains(marker))?;
        Some(Transcript { turns: transcript.turns[..end].to_vec() })
    }

    pub(in crate::metric) fn samples(&self, input: &MetricInput<'_>) -> u32 {
        self.samples.unwrap_or(input.judge.samples).max(1)
    }
}
