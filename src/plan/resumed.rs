//! The trials that are left of a run that is resumed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{Lane, Plan, Trial};
use crate::agent::Ability;
use crate::evidence::{Ending, Evidence, Judgement, Usage};
use crate::graph::GraphConfig;
use crate::job::{Case, Isolation, Line};
use crate::money::Amount;

/// The trials of an earlier run, as far as they are not simply to come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResumedTrials {
    /// The numbers of those that are over and stay as they are.
    pub finished: HashSet<u32>,
    /// Trials that were begun and are not over, by their numbers.
    pub begun: HashMap<u32, BegunTrial>,
    /// When the run had stopped, as far as known.
    pub stopped_at: Option<DateTime<Utc>>,
    /// Whether the end of the journal may be lost, so that more was said than it has: its last line was cut off, or the machine was
    /// started anew since it was written.
    pub may_lack_turns: bool,
    /// The numbers of the trials of which more may have been said than was kept, since the journal's end may have been lost before the run
    /// was resumed for the last time.
    pub lacking_turns: HashSet<u32>,
}

/// A trial that was begun before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BegunTrial {
    /// How often the persona did not play its part in it.
    pub attempt: u32,
    /// How many of its conversations were cut off or broke.
    pub restart: u32,
    /// What was held of it, where it goes on where it was; else it is held again from its setups.
    pub left: Option<Arc<UnfinishedTrial>>,
}

/// A trial that was cut off, as its journal has it, and goes on where it was.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedTrial {
    /// The evidence, as far as it went.
    pub evidence: Evidence,
    /// The message that was on its way.
    pub pending: Option<String>,
    /// How the conversation ends with the reply to the user's last message, where the persona said goodbye in it.
    pub farewell: Option<Ending>,
    /// The usage of the persona so far.
    pub persona_usage: Usage,
    /// What it has cost so far, as far as that is known.
    pub spent: Amount,
    /// What the judge has answered.
    pub judgements: Vec<Judgement>,
    /// The milliseconds of `limits.trial` that it has used, and the agent's part of them.
    pub used_ms: [f64; 2],
    /// The resume points of its session, turn by turn.
    pub resume_points: Vec<serde_json::Value>,
    /// When the run had stopped, as far as known.
    pub stopped_at: Option<DateTime<Utc>>,
    /// Whether more may have been said than the evidence has.
    pub may_lack_turns: bool,
    /// Whether it was over, only since a limit had left nothing for its judge.
    pub was_over: bool,
}

impl UnfinishedTrial {
    /// Whether the agent may have had a message before that is sent now: the one that was on its way, or one of which the journal
    /// lacks all.
    pub fn may_repeat(&self) -> bool {
        self.pending.is_some() || self.may_lack_turns
    }

    /// Whether the conversation has ended: only verdicts are left to be asked for.
    pub fn has_ended(&self) -> bool {
        self.evidence.ending != Ending::CutOff
    }

    /// How many turns it has; 0 where no other is to come.
    pub fn turns_to_go_on_from(&self) -> u32 {
        match self.has_ended() {
            true => 0,
            false => self.evidence.transcript.turns.iter().filter(|turn| !turn.is_greeting()).count() as u32,
        }
    }
}

impl ResumedTrials {
    /// Whether a trial was begun, or is over.
    pub(super) fn was_begun(&self, trial: &Trial) -> bool {
        let number = &trial.id.number;
        self.finished.contains(number) || self.begun.contains_key(number)
    }

    /// The trial as it is still to be run; `None` for one that is over.
    pub(super) fn remaining(&self, trial: Trial) -> Option<Trial> {
        let number = trial.id.number;
        match self.begun.get(&number) {
            Some(BegunTrial { attempt, restart, left }) => {
                Some(Trial { attempt: *attempt, restart: Some(*restart), left: left.clone(), ..trial })
            }
            None => (!self.finished.contains(&number)).then_some(trial),
        }
    }
}

impl Plan {
    /// Why a conversation about this case that was cut off can't go on where it was; `None` where it can.
    pub fn why_restarts(&self, case: &Case) -> Option<String> {
        let target = &self.job.target;
        let key = target.transport.key();
        if let Some(GraphConfig::Embedded(_)) = &self.graph {
            return Some("its graph ended with eval-job".to_owned());
        }
        if self.graph.is_some() && self.job.graph.watch.is_on() {
            return Some("its graph was being watched (graph.watch)".to_owned());
        }
        if target.start.is_some() || matches!(self.isolation, Isolation::Database | Isolation::Process) {
            return Some("what was started for it ended with eval-job".to_owned());
        }
        if !target.transport.can(Ability::Resumes) {
            return Some(format!("target.{key} can't continue a session, as it is set up"));
        }
        let is_more = |line: &Line| !line.mocks.is_empty() || !line.before.is_empty();
        if case.lines().iter().any(is_more) || case.reference.is_some() {
            let why = "its tools are mocked, messages are put before its turns, or it has a reference agent";
            return Some(why.to_owned());
        }
        None
    }

    /// The lanes of [`Plan::lanes`] with the trials alone that are left of a run that was run before.
    pub fn lanes_after(&self, held: ResumedTrials) -> Box<dyn Iterator<Item = Lane> + Send> {
        let left = self.trials().filter_map(move |trial| held.remaining(trial));
        match self.share_state() {
            true => Box::new(std::iter::once(Lane::new(left))),
            false => Box::new(left.map(|trial| Lane::new(std::iter::once(trial)))),
        }
    }
}
