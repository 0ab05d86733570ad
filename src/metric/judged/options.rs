//! How judges are asked, for one metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Event, Transcript, Turn};
use crate::metric::MetricInput;
use crate::score::Score;

/// The treatment of a verdict that is none of those that were asked for.
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
    /// It does not hold, as trpc-agent-go counts whatever is not "yes".
    Fails,
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
    /// The treatment of a verdict that is none of those that were asked for. Default: `missing`, and `leftOut` where it is strict
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
    /// Whether what the agent said in a turn before its final reply, between calls of tools, is judged as a part of the reply.
    /// Default: the final reply alone is
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub intermediate: bool,
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

    /// The conversation as it is judged, where that is not the whole of it as it stands. Messages that are judged one by one stay
    /// apart.
    pub(super) fn judged_part(&self, transcript: &Transcript, by_message: bool) -> Option<Transcript> {
        let is_end =
            |turn: &Turn| self.until.as_ref().is_some_and(|marker| !turn.is_greeting() && turn.user.contains(marker));
        let end = transcript.turns.iter().position(is_end);
        let says_more = self.intermediate
            && !by_message
            && transcript.turns.iter().any(|turn| earlier_messages(turn).next().is_some());
        if end.is_none() && !says_more {
            return None;
        }
        let mut turns = transcript.turns[..end.unwrap_or(transcript.turns.len())].to_vec();
        if says_more {
            turns.iter_mut().for_each(join_replies);
        }
        Some(Transcript { turns })
    }

    pub(in crate::metric) fn samples(&self, input: &MetricInput<'_>) -> u32 {
        self.samples.unwrap_or(input.judge.samples).max(1)
    }
}

/// The agent's messages in a turn before its final reply.
fn earlier_messages(turn: &Turn) -> impl Iterator<Item = &str> {
    turn.events.iter().filter_map(Event::intermediate_text)
}

/// Puts what the agent said in a turn before its final reply before it.
fn join_replies(turn: &mut Turn) {
    let replies: Vec<&str> =
        earlier_messages(turn).chain(turn.agent.as_deref()).filter(|text| !text.trim().is_empty()).collect();
    if !replies.is_empty() {
        turn.agent = Some(replies.join("\n"));
    }
}
