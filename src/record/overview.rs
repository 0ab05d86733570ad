//! A run added up trial by trial: everything that is known of all of it, without its conversations.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use chrono::{DateTime, Utc};

use super::spending::{Ledger, total};
use super::{
    DimensionTally, Doubts, Entry, PlannedTrials, Provenance, RunSummary, SetAside, Spending, TrialGroup, TrialRecord,
    Validity, Verdict, cached::CachedVerdicts, figures, judge_check,
};
use crate::evidence::figures::FigureTotals;
use crate::evidence::{Condition, TrialId};
use crate::money::{Amount, Dollars};
use crate::score::VacuousGate;

/// Everything that is known of a run without its conversations.
#[derive(Debug, Clone)]
pub struct Overview {
    /// The run's summary.
    pub summary: RunSummary,
    /// The trials of each case and model in each condition, added up, in the order of the plan.
    pub groups: Vec<TrialGroup>,
    /// How many trials have begun.
    pub begun: usize,
    /// How many turns are over.
    pub turns: usize,
    /// Totals of the agent's work: for information, no part of a score.
    pub totals: FigureTotals,
    /// Tokens and money, a row for each spender, stage and model, in that order; no rows without spending.
    pub spending: Vec<Spending>,
    /// Which assertions may say nothing of the conversations.
    pub doubts: Doubts,
    /// In how many conversations the persona played its part.
    pub validity: Validity,
    /// How many verdicts were kept of an earlier run.
    pub verdicts: CachedVerdicts,
    /// How many trials did not come to their end.
    pub(super) unfinished: usize,
    /// How many are over only because a limit of money or tokens was reached.
    pub(super) stopped_by_limit: usize,
    /// The most that requests of our own models without a known usage can have cost.
    pub set_aside: SetAside,
    /// The most that the costliest request can take that did not fit into a limit when the run stopped last.
    pub refused: Option<Amount>,
    /// Whether lines of the journal are not as they were written, or missing.
    pub(super) is_damaged: bool,
    ledger: Ledger,
    /// The group of the last trial.
    last_place: usize,
    /// The places of the groups by case, model and condition, once one is asked for. The groups of a run are planned: none is added.
    places: OnceLock<HashMap<(String, String, Condition), usize>>,
    /// Computed on first use.
    several: OnceLock<Several>,
}

/// Whether a run has several cases, models, conditions or repetitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Several {
    /// Whether it has several cases.
    pub cases: bool,
    /// Whether it has several of the agent's models.
    pub models: bool,
    /// Whether a conversation is planned more than once.
    pub repeats: bool,
}

impl Several {
    fn new(groups: &[TrialGroup]) -> Several {
        let others = |is_other: fn(&TrialGroup, &TrialGroup) -> bool| {
            groups.first().is_some_and(|first| groups.iter().any(|group| is_other(first, group)))
        };
        Several {
            cases: others(|first, group| first.case != group.case),
            models: others(|first, group| first.model != group.model),
            repeats: groups.iter().any(|group| group.planned > 1),
        }
    }
}

impl Overview {
    /// The overview of a run whose journal begins with this entry; `None` if it is not a beginning.
    pub(super) fn begin(entry: Entry) -> Option<(Overview, PlannedTrials)> {
        let (mut overview, trials) = Overview::begin_without_groups(entry)?;
        let models = &overview.summary.provenance.models;
        let place = |model: &str| models.iter().position(|known| known == model);
        let mut groups = TrialGroup::planned(&trials);
        groups.sort_by_key(|group| place(&group.model));
        overview.groups = groups;
        Some((overview, trials))
    }

    /// The same of which no group is known.
    pub(super) fn begin_without_groups(entry: Entry) -> Option<(Overview, PlannedTrials)> {
        let Entry::RunStarted { version, id, at, provenance, trials, .. } = entry else { return None };
        let summary = RunSummary {
            version,
            id,
            started_at: at,
            finished_at: None,
            interrupted: false,
            limit_reached: None,
            resumed_at: Vec::new(),
            idle_ms: 0,
            provenance: *provenance,
            figures: Vec::new(),
            judge_checks: Vec::new(),
            repeats_ended: None,
            baseline: None,
            cost: None,
            verdict: Verdict::Incomplete,
            has_no_gate: false,
        };
        Some((Overview::empty(summary, Vec::new()), trials))
    }

    /// An overview without any trial.
    fn empty(summary: RunSummary, groups: Vec<TrialGroup>) -> Overview {
        Overview {
            summary,
            groups,
            begun: 0,
            turns: 0,
            totals: FigureTotals::default(),
            spending: Vec::new(),
            doubts: Doubts::default(),
            validity: Validity::default(),
            verdicts: CachedVerdicts::default(),
            ledger: Ledger::default(),
            last_place: 0,
            places: OnceLock::new(),
            several: OnceLock::new(),
            unfinished: 0,
            stopped_by_limit: 0,
            set_aside: SetAside::default(),
            refused: None,
            is_damaged: false,
        }
    }

    /// A copy without any trials.
    pub fn without_trials(&self) -> Overview {
        Overview::empty(self.summary.clone(), self.groups.iter().map(TrialGroup::without_trials).collect())
    }

    /// Takes over how the run ended from another overview of it.
    pub fn ended_like(&mut self, other: &Overview) {
        let RunSummary { finished_at, interrupted, limit_reached, repeats_ended, .. } = &other.summary;
        self.summary.idle_ms = other.summary.idle_ms;
        (self.summary.finished_at, self.summary.interrupted) = (*finished_at, *interrupted);
        self.summary.repeats_ended = *repeats_ended;
        for (group, theirs) in self.groups.iter_mut().zip(&other.groups) {
            group.planned = theirs.planned;
        }
        self.several = OnceLock::new();
        self.summary.limit_reached = self.summary.limit_reached.take().or_else(|| limit_reached.clone());
        self.is_damaged = other.is_damaged;
    }

    /// Whether lines of the journal are not as they were written, or missing.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// How many trials there are.
    pub fn planned(&self) -> usize {
        self.groups.iter().map(|group| group.planned).sum()
    }

    /// The ids of the cases, in the order of the plan.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        let mut known = BTreeSet::new();
        self.groups.iter().map(|group| group.case.as_str()).filter(move |case| known.insert(*case))
    }

    /// Whether the run has several cases, models, conditions or repetitions.
    pub fn several(&self) -> Several {
        *self.several.get_or_init(|| Several::new(&self.groups))
    }

    /// The place of a trial's group among the run's.
    pub fn index_of(&self, id: &TrialId) -> Option<usize> {
        let key = |group: &TrialGroup| (group.case.clone(), group.model.clone(), group.condition);
        let places = self.places.get_or_init(|| self.groups.iter().map(key).zip(0..).collect());
        places.get(&(id.case.clone(), id.model.clone(), id.condition)).copied()
    }

    /// The groups of one of the agent's models.
    pub fn groups_of<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a TrialGroup> + Clone {
        self.groups.iter().filter(move |group| group.model == model)
    }

    /// The metrics that are below the threshold that the job asks for, each with its case, model and condition.
    pub fn below_thresholds(&self) -> impl Iterator<Item = (&TrialGroup, &DimensionTally)> {
        let dimensions =
            self.groups.iter().flat_map(|group| group.dimensions.iter().map(move |dimension| (group, dimension)));
        dimensions.filter(|(_, dimension)| dimension.is_below())
    }

    /// Takes in an entry that is about the whole run.
    pub(super) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::LimitReached { why, wanted, .. } => (self.summary.limit_reached, self.refused) = (Some(why), wanted),
            Entry::RepeatsEnded { ended, .. } => self.summary.repeats_ended = Some(ended),
            Entry::BaselineCompared { check, .. } => self.summary.baseline = Some(*check),
            Entry::RunFinished { at, interrupted } => {
                (self.summary.finished_at, self.summary.interrupted) = (Some(at), interrupted);
            }
            Entry::RunResumed { at, stopped_at, cost_limit, token_limit, time_limit, .. } => {
                let idle = stopped_at.map_or(0, |stopped_at| (at - stopped_at).num_milliseconds());
                self.summary.idle_ms += u64::try_from(idle).unwrap_or_default();
                self.resume(at, cost_limit, token_limit, time_limit)
            }
            _ => {}
        }
    }

    /// The run goes on, with these limits: it has not ended.
    fn resume(&mut self, at: DateTime<Utc>, cost: Option<Dollars>, tokens: Option<u64>, time: Option<f64>) {
        let RunSummary {
            finished_at, interrupted, limit_reached, provenance, resumed_at, baseline, repeats_ended, ..
        } = &mut self.summary;
        (*finished_at, *interrupted, *limit_reached, *baseline) = (None, false, None, None);
        (*repeats_ended, self.refused) = (None, None);
        (provenance.cost_limit, provenance.token_limit, provenance.time_limit) = (cost, tokens, time);
        resumed_at.push(at);
    }

    /// How many trials did not come to their end, those included that a limit of the run has ended.
    pub fn unfinished(&self) -> usize {
        self.unfinished + self.stopped_by_limit
    }

    /// Takes in what a trial says of whether the run is complete.
    pub(super) fn add_to_outline(&mut self, trial: &TrialRecord) {
        if self.summary.provenance.vacuous == VacuousGate::Fail {
            self.doubts.add(trial);
        }
        self.validity.add(trial);
        self.unfinished += usize::from(trial.finished_at.is_none());
    }

    /// Takes in a trial, of which nothing more will come; returns the place of its group.
    pub fn add(&mut self, trial: &TrialRecord) -> usize {
        self.begun += usize::from(trial.started_at.is_some());
        self.turns += trial.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
        if let Some(evidence) = &trial.evidence {
            self.totals.add(&evidence.transcript);
        }
        self.ledger.add(trial, &self.summary.provenance);
        self.doubts.add(trial);
        self.validity.add(trial);
        self.verdicts.add(trial);
        self.set_aside.extend(&trial.set_aside);
        self.unfinished += usize::from(trial.finished_at.is_none());
        self.stopped_by_limit += usize::from(trial.was_stopped_by_limit());
        let place = self.place_of(&trial.trial);
        if let Some(group) = self.groups.get_mut(place) {
            group.add(trial, self.summary.provenance.min_score);
        }
        place
    }

    /// A trial that was planned is none of the run any more.
    pub(super) fn drop_planned(&mut self, trial: &TrialId) {
        let place = self.place_of(trial);
        if let Some(group) = self.groups.get_mut(place) {
            group.planned = group.planned.saturating_sub(1);
        }
        self.several = OnceLock::new();
    }

    /// A trial that was planned is one of the run again.
    pub(super) fn add_planned(&mut self, trial: &TrialId) {
        let place = self.place_of(trial);
        if let Some(group) = self.groups.get_mut(place) {
            group.planned += 1;
        }
        self.several = OnceLock::new();
    }

    /// The place of a trial's group. Trials come mostly in the order of the plan: the group is the last one's, or the next.
    fn place_of(&mut self, trial: &TrialId) -> usize {
        let near = [self.last_place, self.last_place + 1];
        let is_its = |place: &usize| self.groups.get(*place).is_some_and(|group| group.has(trial));
        let place = near.into_iter().find(is_its).or_else(|| self.index_of(trial)).unwrap_or_default();
        self.last_place = place;
        place
    }

    /// All trials are taken in.
    pub fn conclude(&mut self) {
        let Provenance { models, personas, rng_seed, .. } = &self.summary.provenance;
        let figure = |model: &String| figures::model_figure(model, self.groups_of(model), personas, *rng_seed);
        self.summary.figures = models.iter().map(figure).collect();
        let models = self.summary.provenance.models.iter();
        self.summary.judge_checks =
            models.filter_map(|model| judge_check::model_check(model, self.groups_of(model), personas)).collect();
        let models = &self.summary.provenance.models;
        let place = |model: &str| models.iter().position(|known| known == model);
        self.validity.of_models.sort_by_key(|own| place(&own.model));
        self.spending = self.ledger.rows(&self.summary.provenance);
        self.summary.cost = Some(total(self.spending.iter()).1.known()).filter(|cost| *cost > Dollars::ZERO);
        self.summary.verdict = Verdict::new(self);
        self.summary.has_no_gate = self.has_no_gate();
    }
}
