//! Where two conversations part: the first turn in which user or agent differs.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use super::{Transcript, Turn};

/// The messages of a conversation as digests, eight bytes a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptDigest {
    /// The number of the first turn: 0 for a greeting.
    first: u32,
    /// The digests of the user's message and of the agent's reply, turn by turn.
    turns: Box<[[u32; 2]]>,
}

impl TranscriptDigest {
    /// The digest of a transcript.
    pub fn new(transcript: &Transcript) -> TranscriptDigest {
        let digest = |text: &str| {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish() as u32
        };
        let turn = |turn: &Turn| [digest(&turn.user), digest(turn.agent.as_deref().unwrap_or("\0"))];
        let first = transcript.turns.first().map_or(1, |turn| turn.number);
        TranscriptDigest { first, turns: transcript.turns.iter().map(turn).collect() }
    }

    /// The first turn in which they differ, and by whose message; `None` where all is the same.
    pub fn parts_at(&self, other: &TranscriptDigest) -> Option<(u32, Speaker)> {
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

#[cfg(test)]
mod tests {
    use super::*;
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
