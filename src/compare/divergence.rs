//! The first turn at which the two conversations of a pair differ, and by whose message.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::columns::ConversationKey;
use super::scores::PairedScores;
use crate::evidence::{Condition, Speaker};

/// The first turn at which the conversations of one pair differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairDivergence<'a> {
    /// The case.
    pub case: &'a str,
    /// The condition.
    pub condition: Condition,
    /// The repetition, from 1.
    pub repeat: u32,
    /// The first turn in which they differ, 0 for the greeting; `None` where all is the same.
    pub turn: Option<u32>,
    /// The speaker of the first message that differs.
    pub by: Option<Speaker>,
}

/// The same of many pairs, of each of which 20 bytes are held; written one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct PairDivergences {
    cases: Arc<Vec<String>>,
    pairs: Vec<HeldDivergence>,
}

/// One of them, its case by its place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HeldDivergence {
    case: u32,
    repeat: u32,
    parts_at: Option<(u32, Speaker)>,
    condition: Condition,
}

impl PairDivergences {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = PairDivergence<'_>> {
        self.pairs.iter().map(|&HeldDivergence { case, repeat, parts_at, condition }| PairDivergence {
            case: &self.cases[case as usize],
            condition,
            repeat,
            turn: parts_at.map(|(turn, _)| turn),
            by: parts_at.map(|(_, by)| by),
        })
    }
}

impl Serialize for PairDivergences {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
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
    pub pairs: PairDivergences,
}

/// Where the conversations of two sides part, pair by pair; `None` where their transcripts were not read.
pub(super) fn divergence(sides: &PairedScores<'_>) -> Option<Divergence> {
    let PairedScores { first, second, .. } = sides;
    let pair = |(key, rows): (ConversationKey, [u32; 2])| {
        let (case, condition, repeat) = key;
        let digests = [first.digest(rows[0])?, second.digest(rows[1])?];
        Some(HeldDivergence { case, repeat, parts_at: digests[0].parts_at(digests[1]), condition })
    };
    let pairs: Vec<HeldDivergence> = sides.pairs().filter_map(pair).collect();
    if pairs.is_empty() {
        return None;
    }
    let mut turns: BTreeMap<u32, usize> = BTreeMap::new();
    for (turn, _) in pairs.iter().filter_map(|pair| pair.parts_at) {
        *turns.entry(turn).or_default() += 1;
    }
    let parted: usize = turns.values().sum();
    // The middle one, of an even number the one before it.
    let mut before = 0;
    let median = turns.iter().find(|(_, count)| {
        before += **count;
        before > parted.saturating_sub(1) / 2
    });
    let by = |speaker| pairs.iter().filter(|pair| pair.parts_at.is_some_and(|(_, by)| by == speaker)).count() as u32;
    Some(Divergence {
        never: (pairs.len() - parted) as u32,
        by_user: by(Speaker::User),
        by_agent: by(Speaker::Agent),
        median_turn: median.map(|(turn, _)| f64::from(*turn)),
        pairs: PairDivergences { cases: first.shared_names(), pairs },
    })
}
