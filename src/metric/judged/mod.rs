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
#[cfg(test)]
mod tests;
mod units;

pub use alternatives::score_alternatives;
pub use blocks::{Block, blocks, validity};
pub use citations::Citations;
pub(super) use citations::citations_schema;
pub use item::{EvidenceRule, JudgeItem, JudgeItems};
pub(super) use measure::JudgeMeasure;
pub(super) use metric::JudgedMetric;
pub use options::{JudgeOptions, UnknownVerdict};
pub(super) use quotes::{Shown, is_quoted_from};
pub(super) use samples::{SPREAD, few, reasons, spread};
pub use scale::{DecisionError, ItemVerdict, Scale, Support, VerdictError};
pub use units::{units, windows};

use serde_json::Value;

use super::MetricInput;
use crate::evidence::{Transcript, Turn};
use crate::score::{Component, Score};
use crate::text::DenseText;

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
        None if !input.agent_ended_it => Some(Component::missing(format!("turn {turn} was not held"))),
        _ => Some(Component::scored(Score::ZERO, format!("the agent gave no reply in turn {turn}"))),
    }
}

/// Whether a reply, or one of its verdicts, repeats a part of the prompt, with any spaces and lines.
pub(super) fn stood_before(prompt: &str, raw: &str) -> bool {
    let prompt = DenseText::new(prompt);
    let verdicts = |reply: Value| reply.get("verdicts").and_then(Value::as_array).cloned().unwrap_or_default();
    prompt.contains(raw)
        || serde_json::from_str(raw)
            .is_ok_and(|reply| verdicts(reply).iter().any(|it| prompt.contains(&it.to_string())))
}
