//! `eval-job run --resume` and `--retry-errors`: which run is resumed, whether it may be, and what is left of it.
//!
//! Invariants: a run is locked before anything of it is read; nothing of it is changed before it is known that it may be gone on
//! with.

mod check;
mod command;
mod find;
mod left;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use tokio::runtime::Runtime;

use left::ResumeCounts;

use super::args::{ResumeMode, RunArgs};
use super::context::Context;
use super::error::CliError;
use super::planning::PlannedJobs;
use crate::evidence::Usage;
use crate::money::{Amount, Dollars, Price};
use crate::plan::{BegunTrial, Refusal, ResumedTrials};
use crate::record::{Entry, Overview, RunStart, TrialRecord, total};
use crate::report::count;
use crate::run::prices;
use crate::store::StoredRun;
use crate::store::folder::{JournalFile, ReopenedRun};

pub(super) use command::{resume_command, resume_command_of_one};
pub(super) use find::{ResumeRequest, resume_request};

/// A run that may be resumed.
pub(super) struct Resumed {
    /// The run, which no other process can go on with.
    pub(super) reopened: ReopenedRun,
    /// Its first entry.
    pub(super) first: Entry,
    /// The run as it was left.
    pub(super) overview: Overview,
    /// The trials that were run.
    pub(super) held: ResumedTrials,
    /// How many trials are run now.
    pub(super) left: usize,
    /// Which of those that were cut off go on where they were.
    cut_off: ResumeCounts,
    /// How many of those that are over say nothing about the agent, and stay.
    broken: usize,
    pub(super) mode: ResumeMode,
    /// The most that requests without a reported usage can have cost, by the prices of today.
    pub(super) set_aside: Amount,
    /// What its conversations have cost, and what they would have.
    pub(super) costs: EarlierCosts,
}

/// What conversations of a run have cost before it goes on, by the prices of today.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EarlierCosts {
    /// The most that one of them has cost.
    pub(super) costliest: Amount,
    /// Whether one has come to its end, so that it is known what one costs.
    pub(super) has_ended: bool,
    /// The most by which what was set aside for a request was more than it cost.
    pub(super) margin: Amount,
    /// The most that the costliest request could cost that did not fit when the run stopped last.
    pub(super) refused: Amount,
}

impl ResumeRequest {
    /// Chooses the run and leaves only its job; what is left of the run is known then.
    ///
    /// # Errors
    /// There is no such run, another process holds it, or what it was made with has changed.
    pub(super) fn choose(
        self,
        planned: &mut PlannedJobs,
        args: &RunArgs,
        context: &Context,
        runtime: &Runtime,
    ) -> Result<Resumed, CliError> {
        let mode = self.mode;
        let (reopened, at) = self.find(&planned.jobs, args)?;
        let others = planned.jobs.len() - 1;
        if others > 0 {
            planned.notes.push(format!("{} left out: {} goes on with one run", count(others, "job"), mode.flag()));
        }
        planned.jobs = vec![planned.jobs.swap_remove(at)];
        let prices = prices(&planned.jobs[0].plan);
        let mut run = reopened.run().with_redactor(context.redactor().clone()).with_prices(prices.clone());
        let mut trials = StoredTrials {
            mode,
            held: ResumedTrials::default(),
            broken: 0,
            whole: HashMap::new(),
            prices: prices.models.clone(),
            costs: EarlierCosts::default(),
        };
        let overview = run.read(|_, trial| trials.add(trial))?;
        let first = first_entry(&run)?;
        let _inside = runtime.enter();
        let stored = check::StoredBeginning { first: &first, overview: &overview, note: run.note.as_deref() };
        check::check(stored, &mut planned.jobs[0], args, context)?;
        let StoredTrials { mut held, broken, whole, mut costs, .. } = trials;
        costs.refused = overview.refused.unwrap_or_default();
        held.stopped_at = reopened.stopped_at(&overview.summary);
        held.may_lack_turns = run.note.is_some() || may_be_lost(held.stopped_at, context.clock.booted_at());
        // A secret of today that stands in the journal was sent then.
        let run = run.without_redactor();
        let cut_off = ResumeCounts::take_up(&run, &planned.jobs[0].plan, &whole, &mut held)?;
        let left = overview.planned() - held.finished.len();
        let mut before = RunStart::from_entry(first.clone()).map(|first| first.provenance.prices).unwrap_or_default();
        if before != overview.summary.provenance.prices {
            // It went on by other prices since: by which of them something was set aside is not known.
            before.clear();
            (costs.refused.dollars, costs.margin.dollars) = (Dollars::ZERO, Dollars::ZERO);
        }
        let set_aside = overview.set_aside.amount(&prices.models, &before);
        Ok(Resumed { reopened, first, overview, held, left, cut_off, broken, mode, set_aside, costs })
    }
}

/// Whether what was written last may be lost: the machine was started after it, so that what its kernel had not yet put on disk is
/// gone.
fn may_be_lost(stopped_at: Option<DateTime<Utc>>, booted_at: Option<DateTime<Utc>>) -> bool {
    stopped_at.zip(booted_at).is_some_and(|(stopped_at, booted_at)| booted_at > stopped_at)
}

impl Resumed {
    /// The run's id.
    pub(super) fn id(&self) -> &str {
        &self.overview.summary.id
    }

    /// Whether there is nothing to go on with: it has ended, and nothing of it is run again.
    pub(super) fn is_whole(&self) -> bool {
        let summary = &self.overview.summary;
        self.left == 0 && summary.finished_at.is_some() && !summary.interrupted
    }

    /// The trials that are left, in a sentence.
    pub(super) fn description(&self, context: &Context) -> String {
        format!("{}{}", self.trials_left(context), self.cut_off.description())
    }

    fn trials_left(&self, context: &Context) -> String {
        let (id, all) = (self.id(), self.overview.planned());
        let conversations = count(all, "conversation");
        let kept = all - self.left;
        match (self.is_whole(), self.broken, self.mode) {
            (true, 0, _) => format!("nothing to resume: run {id} has ended, with {conversations}"),
            (true, broken, _) => format!(
                "nothing to resume: run {id} has ended, with {conversations}; {broken} of them can be run again: {}",
                resume_command(id, ResumeMode::Errors, context)
            ),
            (false, _, ResumeMode::Unfinished) if self.overview.summary.provenance.until.is_some() => {
                format!(
                    "run {id} goes on until it is decided: {kept} conversations kept, {} to be run at most",
                    self.left
                )
            }
            (false, _, ResumeMode::Unfinished) => {
                format!("run {id} goes on: {kept} of {conversations} kept, {} to be run", self.left)
            }
            (false, _, ResumeMode::Errors) => {
                format!("run {id} goes on: {kept} of {conversations} kept, {} run again", self.left)
            }
        }
    }

    /// All that was spent on it before, by the prices of today as far as they are known.
    pub(super) fn spent(&self) -> (Usage, Dollars) {
        let (usage, cost, _) = total(self.overview.spending.iter());
        let before = &self.overview.summary.provenance;
        let checks = before.canaries.iter().map(|it| (it.usage, it.cost, before.judge_model.as_str()));
        let steps = before.steps.iter().map(|it| (it.usage, it.cost, it.judge.as_str()));
        checks.chain(steps).fold((usage, cost.known()), |(usage, cost), (more, dollars, judges)| {
            // Of a panel it is not known which one took which tokens.
            let prices = judges.split(", ").filter_map(|judge| before.prices.get(judge));
            let now = prices.map(|price| price.cost(&more).known()).max();
            (usage.plus(more), cost.plus(now.or(dollars).unwrap_or_default()))
        })
    }
}

/// The trials of a run, as far as they were run.
struct StoredTrials {
    mode: ResumeMode,
    held: ResumedTrials,
    broken: usize,
    /// Those that were cut off after their session was opened, or that a limit left nothing for the judge of, each with what it has cost.
    whole: HashMap<u32, Amount>,
    /// The prices of today.
    prices: BTreeMap<String, Price>,
    costs: EarlierCosts,
}

impl StoredTrials {
    fn add(&mut self, trial: &TrialRecord) {
        let number = trial.trial.number;
        let spent = cost(trial, &self.prices);
        self.costs.costliest = self.costs.costliest.max(spent);
        self.costs.margin = self.costs.margin.max(trial.margins.largest(&self.prices));
        self.costs.has_ended |= trial.finished_at.is_some();
        let is_left = match self.mode {
            ResumeMode::Unfinished => trial.finished_at.is_none() || trial.was_stopped_by_limit(),
            ResumeMode::Errors => trial.is_to_be_retried(),
        };
        if !is_left {
            self.held.finished.insert(number);
            self.broken += usize::from(trial.is_to_be_retried());
        } else if trial.was_begun() {
            let (attempt, restart) = trial.tries_before();
            let begun = BegunTrial { attempt: attempt as u32, restart: restart as u32, left: None };
            self.held.begun.insert(number, begun);
            if trial.may_lack_turns {
                self.held.lacking_turns.insert(number);
            }
            let is_only_judged = self.mode == ResumeMode::Unfinished && trial.was_left_unjudged();
            if trial.was_left_whole() || is_only_judged {
                self.whole.insert(number, spent);
            }
        }
    }
}

/// The known cost of a trial, without conversations that were held before and do not count.
fn cost(trial: &TrialRecord, prices: &BTreeMap<String, Price>) -> Amount {
    let amount = |model: &str, usage: &Usage| {
        let dollars = prices.get(model).map_or(Dollars::ZERO, |price| price.cost(usage).known());
        let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        Amount { dollars, tokens }
    };
    let calls = trial.calls.iter().filter(|call| trial.started_at.is_some_and(|began| call.at >= began));
    let own = calls.map(|call| amount(&call.model, &call.usage));
    let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
    let agent = turns.filter_map(|turn| turn.usage.as_ref()).map(|usage| amount(&trial.trial.model, usage));
    own.chain(agent).fold(Amount::default(), Amount::plus)
}

fn first_entry(run: &JournalFile) -> Result<Entry, CliError> {
    run.first_entry()?.ok_or_else(|| CliError::Internal("a run without a beginning was read".to_owned()))
}

fn refused(what: String, help: impl Into<String>) -> CliError {
    CliError::Unprepared(Refusal::new(what, help.into()))
}

/// The job files of the command, before they are read.
pub(super) fn files(asked: Option<&ResumeRequest>, args: &RunArgs) -> Vec<PathBuf> {
    asked.map_or_else(|| args.files.clone(), |asked| asked.files.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_before_the_machine_was_started_may_lack_its_end() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        assert!(may_be_lost(at(100), at(200)));
        assert!(!may_be_lost(at(200), at(100)) && !may_be_lost(None, at(100)) && !may_be_lost(at(100), None));
    }
}
