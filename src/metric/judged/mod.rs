//! The common part of judge metrics: a question about items, the judges' verdicts on them, and the score.
//!
//! Invariants: an item without a usable verdict is missing, never 0; a verdict rests on words that stand in what the judge
//! was shown, or on turns that it read whole; samples that disagree are shown as such.

mod alternatives;
mod blocks;
mod citations;
mod item;
mod measure;
mod metric;
mod options;
mod quotes;
mod reply;
mod samples;
mod scale;
mod scoring;
mod sentences;
mod stood_before;
#[cfg(test)]
mod tests;
mod units;

pub use alternatives::score_alternatives;
pub use blocks::{Block, blocks, validity};
pub use citations::Citations;
pub(super) use citations::{LONGEST_QUOTE, MOST_QUOTES, citations_schema};
pub use item::{EvidenceRule, JudgeItem, JudgeItems};
pub(super) use measure::JudgeMeasure;
pub(super) use metric::JudgedMetric;
pub use options::{JudgeOptions, UnknownVerdict};
pub(super) use quotes::{Shown, is_quoted_from};
pub(super) use samples::{SPREAD, few, is_mean_settled, reasons, spread};
pub use scale::{DecisionError, ItemVerdict, Scale, Support, VerdictError};
pub(super) use sentences::{mean_over_replies, sentence_items};
pub(super) use stood_before::stood_before;
pub use units::{units, windows};

use super::MetricInput;
use crate::evidence::{Transcript, Turn};
use crate::score::{Component, Score};

/// How many problems of one reply are named.
const MOST_PROBLEMS: usize = 3;

/// Why nothing is judged where rules stand in for the judge.
pub(super) const NO_JUDGE: &str = "no model judges: the rules of `scripted` know only tasks and tone";

/// The turns in which the user spoke; in other systems' dialects those that the agent answered.
pub(super) fn exchanges(transcript: &Transcript, is_strict: bool) -> Vec<&Turn> {
    let is_one = |turn: &&Turn| !turn.is_greeting() && (turn.agent.is_some() || !is_strict);
    transcript.turns.iter().filter(is_one).collect()
}

/// The score of a turn to which the agent gave no reply, for which no judge is needed; `None` of one that it answered.
pub(super) fn unanswered(input: &MetricInput<'_>, turn: Option<u32>) -> Option<Component> {
    let turn = turn?;
    match input.transcript.turns.iter().find(|known| known.number == turn) {
        Some(known) if known.agent.is_some() => None,
        None if !input.agent_ended_it => Some(Component::missing(format!("turn {turn} did not take place"))),
        _ => Some(Component::scored(Score::ZERO, format!("the agent gave no reply in turn {turn}"))),
    }
}
