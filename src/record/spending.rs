//! What a run took: tokens and money, by who took them and when.

use std::fmt::{self, Display, Formatter};

use super::{Asker, RunRecord, TrialRecord};
use crate::evidence::Usage;
use crate::money::Cost;

/// Who takes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spender {
    /// The agent under test.
    Agent,
    /// The persona that poses as the user.
    Persona,
    /// The judge.
    Judge,
}

/// When they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The agent is given its memory seeds.
    Priming,
    /// Persona and agent talk.
    Conversation,
    /// The judge scores.
    Judging,
}

impl Spender {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Spender::Agent => "agent",
            Spender::Persona => "persona",
            Spender::Judge => "judge",
        }
    }
}

impl Stage {
    /// All, in the order of a run.
    pub const ALL: [Stage; 3] = [Stage::Priming, Stage::Conversation, Stage::Judging];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Priming => "priming",
            Stage::Conversation => "conversation",
            Stage::Judging => "judging",
        }
    }
}

/// What one of them took of one model in one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// Who.
    pub spender: Spender,
    /// When.
    pub stage: Stage,
    /// The model's name.
    pub model: String,
    /// What it took; `None` where nobody says.
    pub usage: Option<Usage>,
    /// What that cost, by the prices of the record.
    pub cost: Cost,
}

impl Display for Spending {
    /// `agent`, `agent, priming`: what a reader calls it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.spender.word())?;
        if self.stage == Stage::Priming { f.write_str(", priming") } else { Ok(()) }
    }
}

impl RunRecord {
    /// What the run took, a row for each who, when and model, in that order. Who took nothing has no row.
    pub fn spending(&self) -> Vec<Spending> {
        let mut rows: Vec<Spending> = Vec::new();
        let mut add = |spender, stage, model: &str, usage: Option<Usage>| {
            let key = |row: &Spending| (row.spender, row.stage);
            match rows.iter_mut().find(|row| key(row) == (spender, stage) && row.model == model) {
                Some(row) => row.usage = row.usage.into_iter().chain(usage).reduce(Usage::plus),
                None => {
                    rows.push(Spending { spender, stage, model: model.to_owned(), usage, cost: Cost::Unknown });
                }
            }
        };
        for trial in &self.trials {
            let model = &trial.trial.model;
            if trial.was_primed {
                add(Spender::Agent, Stage::Priming, model, trial.priming_usage);
            }
            if let Some(usage) = agent_usage(trial) {
                add(Spender::Agent, Stage::Conversation, model, usage);
            }
            for call in &trial.calls {
                let (spender, stage) = match call.asker {
                    Asker::Persona => (Spender::Persona, Stage::Conversation),
                    Asker::Judge => (Spender::Judge, Stage::Judging),
                };
                add(spender, stage, &call.model, Some(call.usage));
            }
            // What an earlier version kept.
            if trial.calls.is_empty() {
                let persona = trial.evidence.as_ref().map(|evidence| evidence.persona_usage);
                if let Some(usage) = persona.filter(|usage| usage.calls > 0) {
                    add(Spender::Persona, Stage::Conversation, &self.provenance.persona_model, Some(usage));
                }
                for judgement in trial.judgements.iter().filter(|judgement| judgement.usage.calls > 0) {
                    add(Spender::Judge, Stage::Judging, &judgement.model, Some(judgement.usage));
                }
            }
        }
        for row in &mut rows {
            let price = self.provenance.prices.get(&row.model);
            row.cost = price.zip(row.usage).map_or(Cost::Unknown, |(price, usage)| price.of(&usage));
        }
        rows.sort_by_key(|row| (row.spender, row.stage));
        rows
    }
}

/// The agent's own tokens in a conversation: `None` where it said nothing, `Some(None)` where it never told them. A reply
/// without counts among others with them is one that is known to be missing.
fn agent_usage(trial: &TrialRecord) -> Option<Option<Usage>> {
    let turns = &trial.evidence.as_ref()?.transcript.turns;
    let answered = || turns.iter().filter(|turn| turn.agent.is_some());
    answered().next()?;
    if answered().all(|turn| turn.usage.is_none()) {
        return Some(None);
    }
    Some(answered().map(|turn| turn.usage.unwrap_or(Usage::of_call(None, None))).reduce(Usage::plus))
}

/// All of it together: `None` where one of them is unknown, as far as it is known beside.
pub fn total<'a>(rows: impl Iterator<Item = &'a Spending>) -> (Usage, Cost, bool) {
    rows.fold((Usage::default(), Cost::NOTHING, true), |(usage, cost, whole), row| {
        let known = row.usage.unwrap_or_default();
        let is_whole = row.usage.is_some_and(|usage| usage.unreported_calls == 0);
        (usage.plus(known), cost.plus(row.cost), whole && is_whole)
    })
}
