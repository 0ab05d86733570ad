//! The runs of one job, night by night: what each came to, since when its score has another level, and which cases flip.
//!
//! In: the figures of the runs, oldest first, with what each was run by; for what flips, conversations of some of them. Out:
//! nights, series with their changes, a ledger of cases. Pure.
//!
//! Invariants: nights are compared only where they were run by the same rules ([`crate::compare::RunRules`]), over the same cases;
//! a night without all of its figures is shown and not used; a conversation that says nothing of the agent is no flip. What is
//! kept of a run is a row a case, however many conversations it had.

mod flakes;
mod night;
mod series;
mod source;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;

use crate::compare::RunRules;
use crate::evidence::TrialId;
use crate::record::RunFigures;
use crate::statistics::{FALSE_ALARMS, TrendMethods};

pub use flakes::{Flake, FlakeKey, FlakePattern, flakes};
pub use night::{Night, NightCase, NightModel, Passed};
pub use series::{ExcludedRun, ExclusionReason, LevelChange, Series, series};
pub use source::{InvalidTrials, Source, SourceCount, Sources};

/// The part of the runs that is looked at.
#[derive(Debug, Clone, Default)]
pub struct TrendScope {
    /// Only these models of the agent; all where none is named.
    pub models: Vec<String>,
    /// Only cases whose ids hold this text.
    pub case: Option<String>,
}

impl TrendScope {
    /// Whether a model is selected.
    pub fn has_model(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|only| only == model)
    }

    /// Whether a case is selected.
    pub fn has_case(&self, case: &str) -> bool {
        self.case.as_ref().is_none_or(|part| case.contains(part.as_str()))
    }
}

/// The trend of a job, night by night.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trend {
    /// The job's name.
    pub job: String,
    /// The false-alarm rate: the largest share of unchanged series that are ever reported as changed.
    pub false_alarms: f64,
    /// The methods behind its figures.
    pub methods: TrendMethods,
    /// How many nights there are.
    pub nights_in_all: usize,
    /// The runs of the job that are no nights, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_nights: Vec<SkippedRun>,
    /// The newest of them, oldest first.
    pub nights: Vec<Night>,
    /// The series of all nights, model by model.
    pub series: Vec<Series>,
    /// The cases that flip, in all nights that were run by the rules of the newest one.
    pub flakes: Vec<SuspectedFlake>,
    /// Conversations of `nights` that say nothing of the agent: they are no flips.
    pub lost: InvalidTrials,
}

/// A run of the job that is no night: nobody was asked anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedRun {
    /// The run's id.
    pub run: String,
    /// The reason.
    #[serde(flatten)]
    pub why: SkipReason,
}

/// Why a run is no night.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "why")]
pub enum SkipReason {
    /// It replays the recording of a run.
    Replay {
        /// The recorded run's id.
        of: String,
    },
    /// A person was the user.
    Person,
    /// Runs of its parts were merged again later.
    MergedAgain {
        /// The later run's id.
        by: String,
    },
}

/// A case that flips, with what that is suspected to come from.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuspectedFlake {
    /// The case.
    #[serde(flatten)]
    pub flake: Flake,
    /// The most frequent source first; none where no failing conversation was read beside one that passes.
    pub suspected: Vec<SourceCount>,
}

/// The nights of one job, taken in from the oldest to the newest.
#[derive(Debug, Clone, Default)]
pub struct Nights {
    /// The part of them that is looked at.
    scope: TrendScope,
    /// All of them.
    all: Vec<Night>,
    /// The runs that are none.
    no_nights: Vec<SkippedRun>,
    /// The run that was merged last of the run of each part.
    merged: HashMap<String, String>,
    /// The rules by which they were run; a night's number is a place here, counted from 1.
    rules: Vec<RunRules>,
    /// Their numbers by the digests of runs.
    digests: HashMap<String, usize>,
}

impl Nights {
    /// An empty series of runs.
    pub fn new(scope: TrendScope) -> Nights {
        Nights { scope, ..Nights::default() }
    }

    /// Takes in the next run. What it was run by is asked for where its figures do not say that it is what another one was.
    ///
    /// # Errors
    /// The errors of `held`.
    pub fn add<E>(&mut self, run: &RunFigures, held: impl FnOnce() -> Result<RunRules, E>) -> Result<(), E> {
        if let Some(of) = run.replayed.clone() {
            self.no_nights.push(SkippedRun { run: run.run.id.clone(), why: SkipReason::Replay { of } });
            return Ok(());
        }
        if run.run.provenance.by_person {
            self.no_nights.push(SkippedRun { run: run.run.id.clone(), why: SkipReason::Person });
            return Ok(());
        }
        self.take_out_merged(run);
        let before = self.all.last().map(|night| night.rules);
        let known = run.rules_digest.as_ref().and_then(|digest| self.digests.get(digest).copied());
        let rules = match known {
            Some(rules) => rules,
            None => self.rules_of(held()?),
        };
        self.digests.extend(run.rules_digest.clone().map(|digest| (digest, rules)));
        let differs = match before.filter(|before| *before != rules) {
            Some(before) => self.rules[before - 1].differences_from(&self.rules[rules - 1]),
            None => Vec::new(),
        };
        self.all.push(Night::new(run, rules, differs, &self.scope));
        Ok(())
    }

    /// Takes out the nights that were merged of runs of which this one was merged again.
    fn take_out_merged(&mut self, run: &RunFigures) {
        let by = &run.run.id;
        for part in &run.merged {
            let Some(earlier) = self.merged.insert(part.clone(), by.clone()).filter(|earlier| earlier != by) else {
                continue;
            };
            if let Some(place) = self.all.iter().position(|night| night.run == earlier) {
                self.all.remove(place);
                self.no_nights.push(SkippedRun { run: earlier, why: SkipReason::MergedAgain { by: by.clone() } });
            }
        }
    }

    /// Takes in a run by its summary.
    #[cfg(test)]
    pub(crate) fn take(&mut self, summary: &crate::record::RunSummary, held: RunRules) {
        self.add(&RunFigures::from(summary), || Ok::<_, std::convert::Infallible>(held)).unwrap();
    }

    /// The number of the rules by which a run was made. Those of the newest nights are looked at first.
    fn rules_of(&mut self, held: RunRules) -> usize {
        let newest = self.all.last().map(|night| night.rules);
        let others = (1..=self.rules.len()).rev().filter(|number| Some(*number) != newest);
        let known = newest.into_iter().chain(others);
        for number in known {
            let rules = &mut self.rules[number - 1];
            if rules.differences_from(&held).is_empty() {
                rules.extend(&held);
                return number;
            }
        }
        self.rules.push(held);
        self.rules.len()
    }

    /// Whether a conversation is looked at.
    pub fn has(&self, trial: &TrialId) -> bool {
        self.scope.has_model(&trial.model) && self.scope.has_case(&trial.case)
    }

    /// All of them, oldest first.
    pub fn all(&self) -> &[Night] {
        &self.all
    }

    /// The trend of the job, with the newest `last` nights and the sources found in their conversations.
    pub fn trend(&self, job: String, last: usize, sources: &Sources) -> Trend {
        let suspected = |flake: Flake| SuspectedFlake { suspected: sources.suspected(&flake.key), flake };
        Trend {
            job,
            false_alarms: FALSE_ALARMS,
            methods: TrendMethods::ALL,
            nights_in_all: self.all.len(),
            no_nights: self.no_nights.clone(),
            nights: self.all[self.all.len().saturating_sub(last)..].to_vec(),
            series: self.series(),
            flakes: self.flakes().into_iter().map(suspected).collect(),
            lost: sources.lost,
        }
    }

    /// The models, in the order in which they come.
    pub fn models(&self) -> Vec<&str> {
        let mut models: Vec<&str> = Vec::new();
        for model in self.all.iter().flat_map(|night| &night.models) {
            if !models.contains(&model.model.as_str()) {
                models.push(&model.model);
            }
        }
        models
    }

    /// Their series, model by model, each from the oldest to the newest.
    pub fn series(&self) -> Vec<Series> {
        self.models().into_iter().flat_map(|model| series(&self.all, model)).collect()
    }

    /// The cases that flip, run by the rules of the newest night.
    pub fn flakes(&self) -> Vec<Flake> {
        self.all.last().map(|newest| flakes(&self.all, newest.rules)).unwrap_or_default()
    }
}
