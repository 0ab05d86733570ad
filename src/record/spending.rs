//! The tokens and the money of a run, by role and stage.

use std::fmt::{self, Display, Formatter};

use super::{Asker, Provenance, TrialRecord};
use crate::evidence::{Evidence, Transcript, Turn, Usage};
use crate::money::{Cost, Price};

/// A party that uses tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spender {
    /// The agent under test.
    Agent,
    /// The agent whose turns are expected of it.
    Reference,
    /// The persona that poses as the user.
    Persona,
    /// The reviewer of its messages.
    Reviewer,
    /// The judge.
    Judge,
}

/// When they are spent.
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
    /// The role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Spender::Agent => "agent",
            Spender::Reference => "reference agent",
            Spender::Persona => "persona",
            Spender::Reviewer => "reviewer",
            Spender::Judge => "judge",
        }
    }

    /// Whether it is one of our own models.
    pub fn is_own_model(self) -> bool {
        matches!(self, Spender::Persona | Spender::Reviewer | Spender::Judge)
    }
}

impl Stage {
    /// All, in the order of a run.
    pub const ALL: [Stage; 3] = [Stage::Priming, Stage::Conversation, Stage::Judging];

    /// The stage's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Priming => "priming",
            Stage::Conversation => "conversation",
            Stage::Judging => "judging",
        }
    }
}

/// The tokens and money of one role and model in one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// Who spent it.
    pub spender: Spender,
    /// When.
    pub stage: Stage,
    /// The model's name.
    pub model: String,
    /// How many replies, those included of which nothing was reported.
    pub calls: u64,
    /// The tokens; `None` where none were reported.
    pub usage: Option<Usage>,
    /// The cost, by the prices of the record.
    pub cost: Cost,
}

impl Display for Spending {
    /// `agent`, `agent, priming`: what a reader calls it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.spender.as_str())?;
        if self.stage == Stage::Priming { f.write_str(", priming") } else { Ok(()) }
    }
}

/// Adds up what a run took, trial by trial.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    rows: Vec<LedgerRow>,
}

#[derive(Debug, Clone)]
struct LedgerRow {
    spending: Spending,
    price: Option<Price>,
}

impl LedgerRow {
    /// Each reply has its own price: a long request makes no other one dear. One that reports nothing among others that
    /// do is one that is known to be missing.
    fn add(&mut self, reported: Option<Usage>) {
        let cost = self.price.zip(reported).map_or(Cost::Unknown, |(price, usage)| price.cost(&usage));
        let row = &mut self.spending;
        let is_first = row.calls == 0;
        row.calls += 1;
        row.cost = if is_first { cost } else { row.cost.plus(cost) };
        row.usage = match (row.usage, reported) {
            (None, None) => None,
            (None, Some(usage)) => {
                let unreported = Usage::from_counts(None, None);
                Some((1..row.calls).fold(usage, |sum, _| sum.plus(unreported)))
            }
            (Some(sum), reported) => Some(sum.plus(reported.unwrap_or(Usage::from_counts(None, None)))),
        };
    }
}

impl Ledger {
    /// Takes in a trial.
    pub(super) fn add(&mut self, trial: &TrialRecord, provenance: &Provenance) {
        let model = trial.trial.model.as_str();
        if trial.was_primed {
            self.row(Spender::Agent, Stage::Priming, model, provenance).add(trial.priming_usage);
        }
        let discarded = || trial.discarded.iter().filter_map(|it| it.evidence.as_ref());
        for usage in discarded().flat_map(|evidence| usage_of_turns(&evidence.transcript)) {
            self.row(Spender::Agent, Stage::Conversation, model, provenance).add(usage);
        }
        for replaced in &trial.replaced {
            for usage in agent_usage(replaced.evidence.as_ref(), replaced.pending.as_deref()) {
                self.row(Spender::Agent, Stage::Conversation, model, provenance).add(usage);
            }
        }
        for usage in agent_usage(trial.evidence.as_ref(), trial.pending.as_deref()) {
            self.row(Spender::Agent, Stage::Conversation, model, provenance).add(usage);
        }
        for _ in trial.continued.iter().filter(|it| it.is_sent_again) {
            self.row(Spender::Agent, Stage::Conversation, model, provenance).add(None);
        }
        let replaced = trial.replaced.iter().filter_map(|it| it.evidence.as_ref());
        let evidence = discarded().chain(replaced).chain(&trial.evidence);
        for usage in evidence.filter_map(|evidence| evidence.reference.as_ref()).flat_map(usage_of_turns) {
            self.row(Spender::Reference, Stage::Conversation, model, provenance).add(usage);
        }
        for call in &trial.calls {
            let (spender, stage) = match call.asker {
                Asker::Persona => (Spender::Persona, Stage::Conversation),
                Asker::Reviewer => (Spender::Reviewer, Stage::Conversation),
                Asker::Judge => (Spender::Judge, Stage::Judging),
            };
            self.row(spender, stage, &call.model, provenance).add(Some(call.usage));
        }
        // The form of an earlier version.
        if trial.calls.is_empty() {
            let persona = trial.evidence.as_ref().map(|evidence| evidence.persona_usage);
            if let Some(usage) = persona.filter(|usage| usage.calls > 0) {
                let model = provenance.persona_model.as_str();
                self.row(Spender::Persona, Stage::Conversation, model, provenance).add(Some(usage));
            }
            for judgement in trial.judgements.iter().filter(|judgement| judgement.usage.calls > 0) {
                self.row(Spender::Judge, Stage::Judging, &judgement.judge, provenance).add(Some(judgement.usage));
            }
        }
    }

    /// A row for each who, when and model, in that order.
    pub(super) fn rows(&self, provenance: &Provenance) -> Vec<Spending> {
        let mut rows: Vec<Spending> = self.rows.iter().map(|row| row.spending.clone()).collect();
        let place = |model: &String| provenance.models.iter().position(|known| known == model);
        // Those of a panel, which are none of the agent's, by their names: in whichever order they answered.
        rows.sort_by(|one, other| {
            let key = |row: &Spending| (row.spender, row.stage, place(&row.model));
            key(one).cmp(&key(other)).then_with(|| one.model.cmp(&other.model))
        });
        rows
    }

    fn row(&mut self, spender: Spender, stage: Stage, model: &str, provenance: &Provenance) -> &mut LedgerRow {
        let is_it = |row: &LedgerRow| {
            (row.spending.spender, row.spending.stage, row.spending.model.as_str()) == (spender, stage, model)
        };
        let place = self.rows.iter().position(is_it).unwrap_or_else(|| {
            let (model, price) = (model.to_owned(), provenance.prices.get(model).copied());
            let spending = Spending { spender, stage, model, calls: 0, usage: None, cost: Cost::NOTHING };
            self.rows.push(LedgerRow { spending, price });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }
}

/// The agent's own tokens in a conversation, also for a message of which nothing more is known.
fn agent_usage(evidence: Option<&Evidence>, pending: Option<&str>) -> Vec<Option<Usage>> {
    let Some(evidence) = evidence else { return Vec::new() };
    usage_of_turns(&evidence.transcript).chain(pending.map(|_| None)).collect()
}

/// An agent's own tokens for each message that it received or may have received, answered or not.
fn usage_of_turns(transcript: &Transcript) -> impl Iterator<Item = Option<Usage>> {
    let may_be_received =
        |turn: &&Turn| turn.agent.is_some() || turn.failures.last().is_none_or(|failed| failed.maybe_received);
    transcript.turns.iter().filter(may_be_received).map(|turn| turn.usage)
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
    use crate::evidence::{Condition, FailedAttempt, TrialId};
    use crate::money::{Dollars, LongContext};

    fn trial(turns: Vec<Turn>) -> TrialRecord {
        let id = TrialId {
            number: 1,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let mut evidence = Evidence::new("s".to_owned(), "u".to_owned(), &id);
        evidence.transcript.turns = turns;
        TrialRecord { evidence: Some(evidence), ..TrialRecord::planned(id) }
    }

    #[test]
    fn a_message_that_the_agent_may_have_received_is_not_free_because_nobody_answered() {
        let of = |trial: &TrialRecord| agent_usage(trial.evidence.as_ref(), trial.pending.as_deref());
        let reported = Some(Usage::from_counts(Some(10), Some(2)));
        let answered = Turn { usage: reported, ..Turn::answered(1, "a", "b") };
        let failed = |maybe_received| Turn {
            failures: vec![FailedAttempt::untimed("e".to_owned(), maybe_received)],
            ..Turn::begun(2, "c".to_owned())
        };
        assert_eq!(of(&trial(vec![answered.clone(), failed(true)])), [reported, None]);
        assert_eq!(of(&trial(vec![answered.clone(), failed(false)])), [reported]);
        assert_eq!(of(&trial(vec![answered.clone(), Turn::begun(2, "c".to_owned())])), [reported, None]);
        let killed = TrialRecord { pending: Some("c".to_owned()), ..trial(vec![answered]) };
        assert_eq!(of(&killed), [reported, None]);
    }

    #[test]
    fn each_reply_has_its_own_price_and_one_that_reports_nothing_makes_the_cost_a_bound() {
        let long = LongContext { above: 100, input: 1e6, cached_input: None, output: 1e6 };
        let price = Price { input: 1.0, cached_input: None, output: 1.0, long_context: Some(long) };
        let reply = Some(Usage { largest_input_tokens: None, ..Usage::from_counts(Some(90), Some(10)) });
        let provenance =
            Provenance { prices: [("m".to_owned(), price)].into_iter().collect(), ..Provenance::default() };
        let row = |reported: Vec<Option<Usage>>| {
            let mut ledger = Ledger::default();
            let row = ledger.row(Spender::Agent, Stage::Conversation, "m", &provenance);
            reported.into_iter().for_each(|reported| row.add(reported));
            row.spending.clone()
        };
        let dollars = Dollars::new(0.0002).unwrap();
        assert_eq!(row(vec![reply, reply]).cost, Cost::Exactly(dollars));
        let with_unknown = row(vec![reply, None, reply]);
        assert_eq!(with_unknown.cost, Cost::AtLeast(dollars));
        assert_eq!(with_unknown.usage.map(|usage| usage.unreported_calls), Some(1));
        assert_eq!((row(vec![None]).cost, row(vec![None]).usage), (Cost::Unknown, None));
    }
}
