//! The first turn at which the two conversations of a pair differ, and by whose message.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use super::Scores;
use crate::evidence::{Condition, Transcript};

/// The messages of a conversation as digests, eight bytes a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TranscriptDigest {
    /// The number of the first turn: 0 for a greeting.
    first: u32,
    /// The digests of the user's message and of the agent's reply, turn by turn.
    turns: Box<[[u32; 2]]>,
}

impl TranscriptDigest {
    pub(super) fn new(transcript: &Transcript) -> TranscriptDigest {
        let digest = |text: &str| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish() as u32
        };
        let turn = |turn: &crate::evidence::Turn| [digest(&turn.user), digest(turn.agent.as_deref().unwrap_or("\0"))];
        let first = transcript.turns.first().map_or(1, |turn| turn.number);
        TranscriptDigest { first, turns: transcript.turns.iter().map(turn).collect() }
    }

    /// The first turn in which they differ, and by whose message; `None` where all is the same.
    fn parts_at(&self, other: &TranscriptDigest) -> Option<(u32, Speaker)> {
        let differs = |(place, [one, another]): (usize, [&[u32; 2]; 2])| {
            let speaker = if one[0] != another[0] { Speaker::User } else { Speaker::Agent };
            (one != another).then_some((self.first + place as u32, speaker))
        };
        let both = self.turns.iter().zip(&other.turns).map(|(one, another)| [one, another]);
        let both = if self.first == other.first { both.enumerate().find_map(differs) } else { None };
        // One of them ends, or is greeted, where the other is not.
        let lengths = [self.turns.len(), other.turns.len()];
        let ends = || match self.first == other.first {
            false => Some((0, Speaker::Agent)),
            true => (lengths[0] != lengths[1]).then(|| (self.first + lengths[0].min(lengths[1]) as u32, Speaker::User)),
        };
        both.or_else(ends)
    }
}

/// The speaker of the first message that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Speaker {
    /// The user's: it says something else, or ends the conversation.
    User,
    /// The agent's.
    Agent,
}

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
pub(super) fn divergence(first: &Scores, second: &Scores) -> Option<Divergence> {
    let pair = |(key, rows): ((u32, Condition, u32), [u32; 2])| {
        let (case, condition, repeat) = key;
        let digests = [first.digest(rows[0])?, second.digest(rows[1])?];
        let parts = digests[0].parts_at(digests[1]);
        let case = first.cases()[case as usize].clone();
        let (turn, by) = (parts.map(|(turn, _)| turn), parts.map(|(_, by)| by));
        Some(PairDivergence { case, condition, repeat, turn, by })
    };
    let pairs: Vec<PairDivergence> = first.keyed_pairs(second).filter_map(pair).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Turn;

    fn transcript(turns: &[(u32, &str, &str)]) -> TranscriptDigest {
        let turn = |(number, user, agent): &(u32, &str, &str)| Turn::answered(*number, user, agent);
        TranscriptDigest::new(&Transcript { turns: turns.iter().map(turn).collect() })
    }

    #[test]
    fn they_part_where_either_first_says_something_else() {
        let one = transcript(&[(1, "Hi", "Hello"), (2, "A table", "For when?"), (3, "Bye", "Bye")]);
        for (other, parts) in [
            (transcript(&[(1, "Hi", "Hello"), (2, "A table", "For when?"), (3, "Bye", "Bye")]), None),
            (
                transcript(&[(1, "Hi", "Hello"), (2, "A table", "When?"), (3, "Tonight", "Bye")]),
                Some((2, Speaker::Agent)),
            ),
            (transcript(&[(1, "Hey", "Hello")]), Some((1, Speaker::User))),
            (transcript(&[(1, "Hi", "Hello"), (2, "A table", "For when?")]), Some((3, Speaker::User))),
            (transcript(&[(0, "", "Welcome"), (1, "Hi", "Hello")]), Some((0, Speaker::Agent))),
            (transcript(&[]), Some((1, Speaker::User))),
        ] {
            assert_eq!(one.parts_at(&other), parts, "{other:?}");
            let turned = other.parts_at(&one);
            assert_eq!(turned.map(|(turn, _)| turn), parts.map(|(turn, _)| turn), "{other:?}");
        }
    }
}
