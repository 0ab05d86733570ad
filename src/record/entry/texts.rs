//! Entries without their texts.

use serde_json::Value;

use super::Entry;
use crate::evidence::{AgentOutput, Observed, ObservedState};

impl Entry {
    /// Strips texts and observations; what a summary of the run needs is kept.
    pub fn without_texts(mut self) -> Entry {
        match &mut self {
            Entry::UserSaid { text, .. } => *text = String::new(),
            Entry::PersonaFaulted { fault, .. } => fault.text = String::new(),
            Entry::UserToolCalled { call, .. } => {
                (call.arguments, call.result) = (Value::Null, call.result.as_ref().map(|_| Value::Null));
                call.changes = Vec::new();
            }
            Entry::TurnFinished { turn, resume_point, .. } => {
                turn.clear_texts();
                *resume_point = None;
            }
            Entry::ReferenceTurn { turn, .. } => turn.clear_texts(),
            Entry::GraphChanged { changes, .. } => *changes = Vec::new(),
            Entry::LookedBefore { before, empty, .. } => {
                *before = ObservedState { may_be_left_over: before.may_be_left_over, ..ObservedState::default() };
                *empty = ObservedState::default();
            }
            Entry::ConversationEnded { object_context, queries, changes, .. } => {
                (*object_context, *queries) = (None, Vec::new());
                if let Some(Observed::Seen(changes)) = changes {
                    *changes = Vec::new();
                }
            }
            Entry::Judged { question, judgement, .. } => {
                *question = None;
                judgement.rejected = Vec::new();
                if let Observed::Seen(reply) = &mut judgement.reply {
                    *reply = String::new();
                }
            }
            Entry::AgentOutput { output, .. } => *output = AgentOutput::default(),
            Entry::TrialStarted { case, .. } => *case = None,
            _ => {}
        }
        self
    }
}
