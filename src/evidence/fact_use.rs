//! The use of a fact in a conversation.

use serde::{Deserialize, Serialize};

/// When the agent asked for a fact and the user said it, as far as that shows without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FactUse {
    /// The place of the fact among those of the case, from 1.
    pub fact: u32,
    /// The first turn in whose reply the agent asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    /// The first turn in whose message the user says it.
    #[serde(default, alias = "told", skip_serializing_if = "Option::is_none")]
    pub released: Option<u32>,
    /// The first turn in whose reply the agent states the fact itself, before the user said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<u32>,
    /// The turn whose question for whatever there is to say, "Can you tell me more?", the user answered with the fact. Such a
    /// question asks for no fact in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<u32>,
}

impl FactUse {
    /// Whether the user said it before the agent had asked for it or for whatever there is. The answer to a reply is in the next
    /// turn.
    pub fn is_volunteered(&self) -> bool {
        self.prompted.is_none() && self.was_told_first()
    }

    /// Whether the user said it before the agent had asked for it in particular, so that it had no need to ask.
    pub fn was_told_first(&self) -> bool {
        self.released.is_some_and(|released| self.asked.is_none_or(|asked| asked >= released))
    }

    /// Whether the agent stated it before it had asked for it, so that it had no need to ask. A question that names the value,
    /// "Your order is 4711, right?", states it.
    pub fn is_known_to_agent(&self) -> bool {
        self.stated.is_some_and(|stated| self.asked.is_none_or(|asked| asked >= stated))
    }
}
