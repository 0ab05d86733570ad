//! What a run took: tokens and money, by who took them and when.

use std::fmt::{self, Display, Formatter};

use super::{Asker, RunRecord, TrialRecord};
use crate::evidence::{Turn, Usage};
use crate::money::{Cost, Price};

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
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut add = |spender, stage, model, usage| {
            let key = (spender, stage, model);
            match parts.iter_mut().find(|part| part.key == key) {
                Some(part) => part.told.push(usage),
                None => parts.push(Part { key, told: vec![usage] }),
            }
        };
        for trial in &self.trials {
            let model = trial.trial.model.as_str();
            if trial.was_primed {
                add(Spender::Agent, Stage::Priming, model, trial.priming_usage);
            }
            for usage in agent_usage(trial) {
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
        let mut rows: Vec<Spending> =
            parts.iter().map(|part| part.spending(self.provenance.prices.get(part.key.2))).collect();
        rows.sort_by_key(|row| (row.spender, row.stage));
        rows
    }
}

/// What one row is made of.
struct Part<'a> {
    /// Who, when and which model.
    key: (Spender, Stage, &'a str),
    /// Each reply's tokens.
    told: Vec<Option<Usage>>,
}

impl Part<'_> {
    /// Each reply has its own price: a long request makes no other one dear.
    fn spending(&self, price: Option<&Price>) -> Spending {
        let (spender, stage, model) = self.key;
        let usage = Usage::of_replies(self.told.iter().copied());
        let of_reply = |told: &Option<Usage>| price.zip(*told).map_or(Cost::Unknown, |(price, usage)| price.of(&usage));
        let cost = self.told.iter().map(of_reply).reduce(Cost::plus).unwrap_or(Cost::NOTHING);
        Spending { spender, stage, model: model.to_owned(), usage, cost }
    }
}

/// The agent's own tokens in a conversation, for each message that it heard or may have heard, whether it answered or not.
fn agent_usage(trial: &TrialRecord) -> Vec<Option<Usage>> {
    let Some(evidence) = &trial.evidence else { return Vec::new() };
    let may_be_heard =
        |turn: &&Turn| turn.agent.is_some() || turn.failures.last().is_none_or(|failed| failed.maybe_received);
    let turns = evidence.transcript.turns.iter().filter(may_be_heard).map(|turn| turn.usage);
    turns.chain(trial.pending.as_ref().map(|_| None)).collect()
}

/// All of it together: `None` where one of them is unknown, as far as it is known beside.
pub fn total<'a>(rows: impl Iterator<Item = &'a Spending>) -> (Usage, Cost, bool) {
    rows.fold((Usage::default(), Cost::NOTHING, true), |(usage, cost, whole), row| {
        let known = row.usage.unwrap_or_default();
        let is_whole = row.usage.is_some_and(|usage| usage.unreported_calls == 0);
        (usage.plus(known), cost.plus(row.cost), whole && is_whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, Evidence, FailedTry, TrialId};
    use crate::money::{Dollars, LongContext};

    fn trial(turns: Vec<Turn>) -> TrialRecord {
        let id = TrialId {
            number: 1,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let mut evidence = Evidence::of_session("s".to_owned(), "u".to_owned(), &id);
        evidence.transcript.turns = turns;
        TrialRecord { evidence: Some(evidence), ..TrialRecord::planned(id) }
    }

    #[test]
    fn a_message_that_the_agent_may_have_heard_is_not_free_because_nobody_answered() {
        let told = Some(Usage::of_call(Some(10), Some(2)));
        let answered = Turn { usage: told, ..Turn::said(1, "a", "b") };
        let failed = |maybe_received| Turn {
            failures: vec![FailedTry::untimed("e".to_owned(), maybe_received)],
            ..Turn::begun(2, "c".to_owned())
        };
        assert_eq!(agent_usage(&trial(vec![answered.clone(), failed(true)])), [told, None]);
        assert_eq!(agent_usage(&trial(vec![answered.clone(), failed(false)])), [told]);
        assert_eq!(agent_usage(&trial(vec![answered.clone(), Turn::begun(2, "c".to_owned())])), [told, None]);
        let killed = TrialRecord { pending: Some("c".to_owned()), ..trial(vec![answered]) };
        assert_eq!(agent_usage(&killed), [told, None]);
    }

    #[test]
    fn each_reply_has_its_own_price_and_one_that_tells_nothing_makes_the_cost_a_bound() {
        let long = LongContext { above: 100, input: 1e6, cached_input: None, output: 1e6 };
        let price = Price { input: 1.0, cached_input: None, output: 1.0, long_context: Some(long) };
        let reply = Some(Usage { largest_input_tokens: None, ..Usage::of_call(Some(90), Some(10)) });
        let row = |told: Vec<Option<Usage>>| {
            Part { key: (Spender::Agent, Stage::Conversation, "m"), told }.spending(Some(&price))
        };
        let dollars = Dollars::new(0.0002).unwrap();
        assert_eq!(row(vec![reply, reply]).cost, Cost::Exactly(dollars));
        let with_unknown = row(vec![reply, None, reply]);
        assert_eq!(with_unknown.cost, Cost::AtLeast(dollars));
        assert_eq!(with_unknown.usage.map(|usage| usage.unreported_calls), Some(1));
        assert_eq!((row(vec![None]).cost, row(vec![None]).usage), (Cost::Unknown, None));
    }
}
