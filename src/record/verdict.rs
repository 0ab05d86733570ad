//! What a run means, in one word: the printed verdict and the exit status both come from here.

use serde::{Deserialize, Serialize};

use super::{RunRecord, TrialRecord};
use crate::score::VacuousGate;

/// What a run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Every figure is there and the gate, if there is one, is passed.
    Passed,
    /// A figure is below the gate, or an assertion that must show something of the conversation can't fail or held before
    /// it; no other figure is missing.
    GateFailed,
    /// Some figure is missing: agent unreachable, persona, judge or graph broken, or the run was killed.
    Incomplete,
    /// Its user stopped it.
    Interrupted,
}

impl Verdict {
    /// The verdict on a run.
    pub fn of(record: &RunRecord) -> Verdict {
        if record.interrupted {
            return Verdict::Interrupted;
        }
        let unfinished = record.trials.iter().any(|trial| trial.finished_at.is_none());
        let vacuous = record.provenance.vacuous == VacuousGate::Fail
            && !(record.vacuous_assertions().is_empty() && record.held_before_assertions().is_empty());
        // What is missing only for what the gate is about fails the gate.
        let is_missing =
            |trial: &TrialRecord| trial.score().is_none() && !(vacuous && trial.is_unscored_for_what_held_before());
        let has_none = |trial: &TrialRecord| is_missing(trial) && !record.is_scored_elsewhere(trial);
        if unfinished || record.trials.iter().any(has_none) || record.figures.is_empty() {
            return Verdict::Incomplete;
        }
        let gate = record.provenance.min_score;
        let below = record.figures.iter().any(|figure| figure.figure.score() < gate);
        if below || vacuous { Verdict::GateFailed } else { Verdict::Passed }
    }

    /// The exit status that stands for it.
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::GateFailed => 100,
            Verdict::Incomplete => 102,
            Verdict::Interrupted => 130,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::GateFailed => "gate failed",
            Verdict::Incomplete => "incomplete",
            Verdict::Interrupted => "interrupted",
        }
    }
}
