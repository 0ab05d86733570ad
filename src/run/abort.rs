//! Why a trial or a setup comes to its end before there is evidence.

use std::io;

use crate::cassette::{Stopped, Tape};
use crate::score::Outcome;

/// The note of the outcome of a conversation that was stopped.
pub(super) const STOPPED: &str = "stopped";

/// Why a trial says nothing about the agent, or could not be kept.
pub(super) enum TrialAbort {
    /// It is the trial's outcome.
    Outcome(Outcome),
    /// A conversation that was cut off before can't go on where it was, for this reason: it is run again from its setups.
    NotContinued(String),
    /// The time limit of the recorded run has cut it off here, and it has no outcome.
    CutOff,
    /// The sink failed: the run must not go on.
    Sink(io::Error),
}

impl From<io::Error> for TrialAbort {
    fn from(error: io::Error) -> TrialAbort {
        TrialAbort::Sink(error)
    }
}

impl TrialAbort {
    /// The world around the agent is at fault.
    pub(super) fn broken(error: impl Into<String>) -> TrialAbort {
        TrialAbort::Outcome(Outcome::Broken { error: error.into() })
    }

    /// The same of a conversation that was to go on where it was.
    pub(super) fn not_continued(self) -> TrialAbort {
        match self {
            TrialAbort::Outcome(Outcome::Broken { error }) => TrialAbort::NotContinued(error),
            other => other,
        }
    }

    /// A trial that can't be replayed any further.
    pub(super) fn of_replay(stopped: Stopped, tape: &Tape) -> TrialAbort {
        match stopped {
            Stopped::Unrecorded(why) => TrialAbort::broken(why),
            Stopped::CutOff => TrialAbort::CutOff,
            Stopped::Unanswered => match tape.noted(STOPPED, None::<Outcome>) {
                Some(outcome) => TrialAbort::Outcome(outcome),
                None => TrialAbort::broken(
                    "the recording ends while an answer is waited for; record again with --cassette-record",
                ),
            },
        }
    }

    /// The persona is at fault.
    pub(super) fn persona_invalid(error: impl Into<String>) -> TrialAbort {
        TrialAbort::Outcome(Outcome::PersonaInvalid { error: error.into() })
    }
}

/// The graph or the agent of a conversation could not be set up: the reason, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(String);

impl SetupError {
    pub(super) fn new(why: impl Into<String>) -> SetupError {
        SetupError(why.into())
    }
}

impl From<TrialAbort> for SetupError {
    fn from(stop: TrialAbort) -> SetupError {
        match stop {
            TrialAbort::Outcome(outcome) => SetupError::new(outcome.error().unwrap_or_default()),
            TrialAbort::NotContinued(why) => SetupError::new(why),
            TrialAbort::CutOff => SetupError::new("the time limit of the recorded run ended here"),
            TrialAbort::Sink(error) => SetupError::new(error.to_string()),
        }
    }
}
