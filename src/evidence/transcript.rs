//! A conversation, turn by turn.

use serde::{Deserialize, Serialize};

use super::{Event, Message, Role, Turn};

/// A conversation, turn by turn, as both sides said it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transcript {
    /// In order, numbered from 1.
    pub turns: Vec<Turn>,
}

impl Transcript {
    /// The messages of both sides in order; a turn without a reply has only its user message.
    pub fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        self.turns.iter().flat_map(|turn| {
            let user = Message::new(Role::User, turn.user.clone());
            let agent = turn.agent.clone().map(|text| Message::new(Role::Assistant, text));
            std::iter::once(user).chain(agent)
        })
    }

    /// How many messages both sides have said.
    pub fn message_count(&self) -> usize {
        self.turns.iter().map(|turn| 1 + usize::from(turn.agent.is_some())).sum()
    }

    /// All events of all turns, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.turns.iter().flat_map(|turn| turn.events.iter())
    }

    /// The mean of the replies' latencies in milliseconds; `None` when the agent never replied.
    pub fn average_latency_ms(&self) -> Option<f64> {
        let latencies: Vec<f64> = self.turns.iter().filter_map(|turn| turn.latency_ms).collect();
        (!latencies.is_empty()).then(|| latencies.iter().sum::<f64>() / latencies.len() as f64)
    }

    /// Whether the agent has said anything at all.
    pub fn has_reply(&self) -> bool {
        self.turns.iter().any(|turn| turn.agent.is_some())
    }
}
