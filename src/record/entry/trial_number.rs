//! Which trial an entry is about.

use super::Entry;

/// A reference to the number of the trial that an entry is about, if it is about one.
macro_rules! of_trial {
    ($entry:expr) => {
        match $entry {
            Entry::RunStarted { .. }
            | Entry::GradingStarted { .. }
            | Entry::LimitReached { .. }
            | Entry::RunResumed { .. }
            | Entry::RepeatsEnded { .. }
            | Entry::BaselineCompared { .. }
            | Entry::RunFinished { .. } => None,
            Entry::TrialStarted { trial, .. }
            | Entry::SessionOpened { trial, .. }
            | Entry::LookedBefore { trial, .. }
            | Entry::UserSaid { trial, .. }
            | Entry::PersonaFaulted { trial, .. }
            | Entry::UserToolCalled { trial, .. }
            | Entry::TurnFinished { trial, .. }
            | Entry::ReferenceTurn { trial, .. }
            | Entry::GraphChanged { trial, .. }
            | Entry::ConversationEnded { trial, .. }
            | Entry::Primed { trial, .. }
            | Entry::ModelAsking { trial, .. }
            | Entry::ModelAsked { trial, .. }
            | Entry::Judged { trial, .. }
            | Entry::AgentOutput { trial, .. }
            | Entry::AgentRefused { trial, .. }
            | Entry::TrialDiscarded { trial, .. }
            | Entry::TrialRestarted { trial, .. }
            | Entry::TrialContinued { trial, .. }
            | Entry::TextsCleared { trial }
            | Entry::TrialFinished { trial, .. } => Some(trial),
        }
    };
}

impl Entry {
    /// The number of the trial that it is about; `None` for one of the whole run.
    pub fn trial(&self) -> Option<u32> {
        of_trial!(self).copied()
    }

    /// Renumbers the entry's trial. An entry about the whole run is returned unchanged.
    pub fn with_trial(mut self, number: u32) -> Entry {
        if let Some(trial) = of_trial!(&mut self) {
            *trial = number;
        }
        self
    }
}
