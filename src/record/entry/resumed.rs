//! What an entry means to whoever goes on with a run.

use super::Entry;
use crate::evidence::{Ending, Usage};

impl Entry {
    /// The trial that may be over and is taken up again: it is held from its setups, or judged.
    pub fn takes_up_again(&self) -> Option<u32> {
        match self {
            Entry::TrialRestarted { trial, .. } | Entry::TrialContinued { trial, was_over: true, .. } => Some(*trial),
            _ => None,
        }
    }

    /// Whether a conversation is resumed by what stands in it: then it has to be whole.
    pub fn is_gone_on_with(&self) -> bool {
        matches!(
            self,
            Entry::SessionOpened { .. }
                | Entry::LookedBefore { .. }
                | Entry::UserSaid { .. }
                | Entry::UserToolCalled { .. }
                | Entry::TurnFinished { .. }
                | Entry::GraphChanged { .. }
                | Entry::ConversationEnded { .. }
        )
    }

    /// A conversation that ended for another reason than the agent: the persona's usage is still known.
    pub fn conversation_cut_off(trial: u32, persona_usage: Usage) -> Entry {
        Entry::ConversationEnded {
            trial,
            ending: Ending::CutOff,
            object_context: None,
            queries: Vec::new(),
            changes: None,
            persona_usage,
            persona_notes: Vec::new(),
            fact_uses: None,
        }
    }
}
