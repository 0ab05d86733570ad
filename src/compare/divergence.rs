//! The first turn at which the two conversations of a pair differ, and by whose message.

use serde::Serialize;

use super::scores::{ConversationKey, PairedScores};
use crate::evidence::{Condition, Speaker};

/// The first turn at which the conversations of one pair differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairDivergence {
    /// The case.
    pub case: String,
    /// The condition.
    pub condition: Condition,
    /// The repetition, from 1.
    pub repeat: u32,
    /// The first turn in which they differ, 0 for the greeting; `None` where all is the same.
    pub turn: Option<u32>,
    /// The speaker of the first message that differs.
    pub by: Option<Speaker>,
}

/// Where the conversations of two sides part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    /// How many pairs never part.
    pub never: u32,
    /// How many part at what the user says.
    pub by_user: u32,
    /// How many part at the agent's reply.
    pub by_agent: u32,
    /// The turn at which half of those that part have parted; `None` where none does.
    pub median_turn: Option<f64>,
    /// Each pair, in the order of the first side's cases.
    pub pairs: Vec<PairDivergence>,
}

/// Where the conversations of two sides part, pair by pair; `None` where their transcripts were not read.
pub(super) fn divergence(sides: &PairedScores<'_>) -> Option<Divergence> {
    let PairedScores { first, second, .. } = sides;
    let pair = |(key, rows): (ConversationKey, [u32; 2])| {
        let (case, condition, repeat) = key;
        let digests = [first.digest(rows[0])?, second.digest(rows[1])?];
        let parts = digests[0].parts_at(digests[1]);
        let case = first.cases()[case as usize].clone();
        let (turn, by) = (parts.map(|(turn, _)| turn), parts.map(|(_, by)| by));
        Some(PairDivergence { case, condition, repeat, turn, by })
    };
    let pairs: Vec<PairDivergence> = sides.pairs().filter_map(pair).collect();
    if pairs.is_empty() {
        return None;
    }
    let mut turns: Vec<f64> = pairs.iter().filter_map(|pair| pair.turn.map(f64::from)).collect();
    turns.sort_by(f64::total_cmp);
    let by = |speaker| pairs.iter().filter(|pair| pair.by == Some(speaker)).count() as u32;
    let median = turns.get((turns.len().saturating_sub(1)) / 2).copied();
    Some(Divergence {
        never: pairs.iter().filter(|pair| pair.turn.is_none()).count() as u32,
        by_user: by(Speaker::User),
        by_agent: by(Speaker::Agent),
        median_turn: median,
        pairs,
    })
}
