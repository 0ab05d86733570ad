//! One line of the journal.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Provenance;
use crate::evidence::{Ending, Judgement, ObjectContext, Observed, QueryObservation, TrialId, Turn, Usage};
use crate::score::{Outcome, Scorecard};

/// One line of the journal: what just happened. An entry is written before whatever comes after it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Entry {
    /// The first line.
    RunStarted {
        /// The format's version.
        version: u32,
        /// The run's id.
        id: String,
        /// When it started.
        at: DateTime<Utc>,
        /// What it was made of.
        provenance: Box<Provenance>,
        /// The trials to come.
        trials: Vec<TrialId>,
    },
    /// A trial's setups begin.
    TrialStarted {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
    },
    /// Setups and seeds are done and the agent has opened a session.
    SessionOpened {
        /// Which trial.
        trial: u32,
        /// The agent's id for it.
        session_id: String,
    },
    /// The persona has said something, which is about to be sent.
    UserSaid {
        /// Which trial.
        trial: u32,
        /// The turn that begins.
        turn: u32,
        /// The words.
        text: String,
    },
    /// A turn is over.
    TurnFinished {
        /// Which trial.
        trial: u32,
        /// The turn.
        turn: Turn,
    },
    /// The conversation is over and everything was looked at.
    ConversationEnded {
        /// Which trial.
        trial: u32,
        /// How it ended.
        ending: Ending,
        /// The agent's observable state.
        object_context: Option<Observed<ObjectContext>>,
        /// The rows of the Cypher assertions.
        queries: Vec<QueryObservation>,
        /// What the persona cost.
        persona_usage: Usage,
    },
    /// The judge has answered.
    Judged {
        /// Which trial.
        trial: u32,
        /// What it said.
        judgement: Judgement,
    },
    /// A trial is over.
    TrialFinished {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
        /// How it came out.
        outcome: Outcome,
        /// What it is worth, where it says something about the agent.
        scorecard: Option<Scorecard>,
    },
    /// The last line of a run that was not killed.
    RunFinished {
        /// When.
        at: DateTime<Utc>,
        /// Whether it was stopped by its user.
        interrupted: bool,
    },
}

impl Entry {
    /// A conversation that somebody else than the agent brought to a stop: what the persona cost is still known.
    pub fn conversation_cut_off(trial: u32, persona_usage: Usage) -> Entry {
        Entry::ConversationEnded {
            trial,
            ending: Ending::CutOff,
            object_context: None,
            queries: Vec::new(),
            persona_usage,
        }
    }
}
