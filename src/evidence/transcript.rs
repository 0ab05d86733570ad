//! A conversation, turn by turn.

use serde::{Deserialize, Serialize};

use super::{Event, Message, Role, Turn};

/// A conversation, turn by turn, with the messages of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transcript {
    /// In order, numbered from 1, after the agent's greeting where there is one.
    pub turns: Vec<Turn>,
}

impl Transcript {
    /// The messages of both sides in order; a turn without a reply has only its user message, a greeting has none.
    pub fn messages(&self) -> impl Iterator<Item = Message> + '_ {
        self.turns.iter().flat_map(|turn| {
            let user = (!turn.is_greeting()).then(|| Message::new(Role::User, turn.user.clone()));
            let agent = turn.agent.clone().map(|text| Message::new(Role::Assistant, text));
            user.into_iter().chain(agent)
        })
    }

    /// The number of messages of both sides.
    pub fn message_count(&self) -> usize {
        self.turns.iter().map(|turn| usize::from(!turn.is_greeting()) + usize::from(turn.agent.is_some())).sum()
    }

    /// All events of all turns, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.turns.iter().flat_map(|turn| turn.events.iter())
    }

    /// The mean of the replies' latencies in milliseconds, without the greeting's; `None` when the agent never replied.
    pub fn average_latency_ms(&self) -> Option<f64> {
        self.average(|turn| turn.latency_ms)
    }

    /// The mean of the milliseconds to the replies' first tokens; `None` when no reply was streamed.
    pub fn average_first_token_ms(&self) -> Option<f64> {
        self.average(|turn| turn.first_token_ms)
    }

    fn average(&self, of: impl Fn(&Turn) -> Option<f64>) -> Option<f64> {
        let times: Vec<f64> = self.turns.iter().filter(|turn| !turn.is_greeting()).filter_map(of).collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// Whether the agent has replied at all.
    pub fn has_reply(&self) -> bool {
        self.turns.iter().any(|turn| turn.agent.is_some())
    }
}
