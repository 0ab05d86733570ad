//! The runs of a job, as they are kept: the one place where a trend meets the store.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::super::args::TrendArgs;
use super::super::context::Context;
use super::super::error::CliError;
use super::TrendError;
use crate::compare::RunRules;
use crate::record::{ListedRun, RunFigures};
use crate::report::plain;
use crate::store::folder::{KeptRun, RunsFolder};
use crate::store::sqlite::IndexedRuns;
use crate::store::{Store, StoreError};
use crate::trend::Nights;

/// The subject of `trend`: a job, and the time from which on its runs are read.
#[derive(Debug)]
pub(super) struct TrendSubject {
    /// The job's name or file, as it was typed.
    pub(super) job: String,
    /// Where that file is, if it is there.
    file: Option<PathBuf>,
    since: Option<DateTime<Utc>>,
}

impl TrendSubject {
    /// Whether a run is of the job.
    fn has(&self, run: &ListedRun) -> bool {
        let provenance = &run.provenance;
        let bare = |path: &str| path.trim_start_matches("./").to_owned();
        let is_file = || {
            !provenance.job_file.is_empty()
                && (bare(&provenance.job_file) == bare(&self.job)
                    || self.file.is_some() && Path::new(&provenance.job_file).canonicalize().ok() == self.file)
        };
        provenance.job == self.job || is_file()
    }

    fn is_new_enough(&self, run: &ListedRun) -> bool {
        self.since.is_none_or(|since| run.started_at >= since)
    }
}

/// The models and cases of the runs.
#[derive(Debug, Default)]
pub(super) struct RunInventory {
    /// The job's name in the newest of them.
    pub(super) job: Option<String>,
    models: Vec<String>,
    cases: Vec<String>,
}

impl RunInventory {
    pub(super) fn add(&mut self, run: &RunFigures) {
        self.job = Some(run.run.provenance.job.clone());
        for figure in &run.models {
            if !self.models.contains(&figure.model) {
                self.models.push(figure.model.clone());
            }
        }
        if let Some(figure) = run.models.first() {
            self.cases = figure.cases().map(|(case, ..)| case.to_owned()).collect();
        }
    }
}

/// The runs that the command line means.
pub(super) fn subject(args: &TrendArgs, runs: &RunsFolder) -> Result<TrendSubject, CliError> {
    let job = match &args.job {
        Some(job) => job.clone(),
        None => runs.listed(None)?.provenance.job,
    };
    let file = Path::new(&job).canonicalize().ok().filter(|path| path.is_file());
    Ok(TrendSubject { job, file, since: args.since })
}

/// The selected runs, oldest first; an error in place of one that can't be read.
pub(super) fn runs<'a>(
    runs: &'a IndexedRuns,
    subject: &'a TrendSubject,
) -> Result<impl Iterator<Item = Result<KeptRun, StoreError>> + 'a, CliError> {
    Ok(runs.history(|run| subject.has(run) && subject.is_new_enough(run))?)
}

/// A job of more bytes, whose cases are many, is not held for the next night.
const MOST_HELD: usize = 1 << 20;

/// The jobs of runs, without secrets. One night's is mostly that of the night before.
#[derive(Debug, Default)]
pub(super) struct ClearedJobs {
    last: Option<Vec<u8>>,
    cleared: Option<Value>,
}

impl ClearedJobs {
    /// The rules of a run.
    pub(super) fn held_by(&mut self, run: &KeptRun, context: &Context) -> Result<RunRules, StoreError> {
        let job = run.job();
        if job != self.last {
            self.cleared = job.as_deref().and_then(|job| serde_json::from_slice(job).ok());
            self.last = job;
            self.cleared.iter_mut().for_each(|job| context.redactor().redact_json(job));
        }
        let rules = RunRules::new(&run.provenance()?, self.cleared.as_ref());
        if self.last.as_ref().is_some_and(|job| job.len() > MOST_HELD) {
            *self = ClearedJobs::default();
        }
        Ok(rules)
    }
}

/// Fails where there is nothing to show.
pub(super) fn check(
    nights: &Nights,
    args: &TrendArgs,
    subject: &TrendSubject,
    known: &RunInventory,
) -> Result<(), CliError> {
    let job = plain(&subject.job);
    let Some(name) = &known.job else {
        let runs = RunsFolder::at(&args.runs_dir.runs_dir);
        let mut jobs: Vec<String> = Vec::new();
        for run in runs.runs()?.filter_map(Result::ok) {
            if subject.has(&run) {
                let since = subject.since.map(|since| since.to_rfc3339()).unwrap_or_default();
                return Err(TrendError::NothingSince { job, since }.into());
            }
            let name = plain(&run.provenance.job);
            if !jobs.contains(&name) {
                jobs.push(name);
            }
        }
        let runs_dir = args.runs_dir.runs_dir.display().to_string();
        return Err(TrendError::NoSuchJob { job, runs_dir, known: jobs }.into());
    };
    let models = || nights.all().iter().flat_map(|night| &night.models);
    let nothing = |what, named: &str, known: &[String]| {
        let known = known.iter().map(|known| plain(known)).collect();
        Err(TrendError::Nothing { job: plain(name), what, named: plain(named), known }.into())
    };
    match &args.case {
        _ if models().next().is_none() && !args.model.is_empty() && !known.models.is_empty() => {
            nothing("the model", &args.model.join(","), &known.models)
        }
        Some(case) if models().all(|model| model.cases.is_empty()) => nothing("the case", case, &known.cases),
        _ => Ok(()),
    }
}
