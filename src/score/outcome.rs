//! The outcome of a trial.

use serde::{Deserialize, Serialize};

/// The end of the error of a conversation that was not held again because the persona failed in the same place each time.
pub const NOT_HELD_AGAIN: &str = "; not run again, as several failed there in the same way and none got through";

/// The outcome of a trial. Only the first two say something about the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// The conversation came to an end and was graded.
    Graded,
    /// A session was open, then the agent failed to the end of the retries; graded on what there is.
    AgentFailed {
        /// The error, in a sentence.
        error: String,
    },
    /// The persona did not play its part.
    PersonaInvalid {
        /// The persona's fault.
        error: String,
    },
    /// The judge gave no usable verdict.
    JudgeFailed {
        /// The reason, in a sentence.
        error: String,
    },
    /// No session could be opened, or the graph, a model's endpoint or eval-job itself failed.
    Broken {
        /// The error, in a sentence.
        error: String,
    },
}

impl Outcome {
    /// Whether the trial says something about the agent.
    pub fn counts(&self) -> bool {
        matches!(self, Outcome::Graded | Outcome::AgentFailed { .. })
    }

    /// Whether the conversation was not held again because the persona failed in the same place each time.
    pub fn is_of_stuck_persona(&self) -> bool {
        matches!(self, Outcome::PersonaInvalid { error } if error.ends_with(NOT_HELD_AGAIN))
    }

    /// The outcome's name.
    pub fn label(&self) -> &'static str {
        match self {
            Outcome::Graded => "graded",
            Outcome::AgentFailed { .. } => "agent failed",
            Outcome::PersonaInvalid { .. } => "persona invalid",
            Outcome::JudgeFailed { .. } => "judge failed",
            Outcome::Broken { .. } => "broken",
        }
    }

    /// The error, for every outcome but `Graded`.
    pub fn error(&self) -> Option<&str> {
        match self {
            Outcome::Graded => None,
            Outcome::AgentFailed { error }
            | Outcome::PersonaInvalid { error }
            | Outcome::JudgeFailed { error }
            | Outcome::Broken { error } => Some(error),
        }
    }
}
