//! `eval-job trend [JOB]`

mod read;

use std::collections::BTreeSet;

use super::args::TrendArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::report;
use crate::store::StoreError;
use crate::store::folder::{KeptRun, RunsFolder};
use crate::store::sqlite::IndexedRuns;
use crate::trend::{FlakeKey, Nights, Sources, TrendScope};

/// So many nights are shown where it is not said how many.
const SHOWN: usize = 20;

/// The most cases that flip of which conversations are read.
const MAX_CASES_READ: usize = 50;

/// Why there is no trend.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrendError {
    /// No run is of the job.
    #[error("no run in {runs_dir} is of the job `{job}`")]
    NoSuchJob { job: String, runs_dir: String, known: Vec<String> },
    /// No run of the job is as new.
    #[error("no run of {job} started on or after {since}")]
    NothingSince { job: String, since: String },
    /// No run of the job has the model, or the case.
    #[error("no run of {job} has {what} `{named}`")]
    Nothing { job: String, what: &'static str, named: String, known: Vec<String> },
}

impl TrendError {
    /// The remedy to suggest.
    pub(super) fn help(&self) -> String {
        let one_of = |known: &[String]| format!("one of {}", report::one_line(&known.join(", "), 300));
        match self {
            TrendError::NoSuchJob { known, .. } | TrendError::Nothing { known, .. } => one_of(known),
            TrendError::NothingSince { .. } => "an earlier --since; eval-job list shows when runs started".to_owned(),
        }
    }
}

/// Shows the runs of a job, night by night.
pub(super) fn trend(args: &TrendArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let runs = RunsFolder::at(&args.runs_dir.runs_dir);
    let subject = read::subject(args, &runs)?;
    let indexed = IndexedRuns::new(runs);
    let scope = TrendScope { models: args.model.clone(), case: args.case.clone() };
    let mut nights = Nights::new(scope);
    let mut kept: Vec<KeptRun> = Vec::new();
    // Data is not for a screen: all of it, unless it is asked for less.
    let shown = args.last.unwrap_or(if args.json { usize::MAX } else { SHOWN });
    let read = args.last.unwrap_or(SHOWN);
    let (mut known, mut jobs) = (read::RunInventory::default(), read::ClearedJobs::default());
    for run in read::runs(&indexed, &subject)? {
        let added = run.and_then(|run| {
            nights.add(&run.figures, || jobs.held_by(&run, context))?;
            Ok(run)
        });
        let run = match added {
            Ok(run) => run,
            Err(error) => {
                printer.note(&format!("note: {error}"));
                continue;
            }
        };
        known.add(&run.figures);
        kept.push(run);
        if kept.len() > read {
            kept.remove(0);
        }
    }
    if let Some(trouble) = indexed.take_trouble() {
        printer.note(&format!("note: {trouble}"));
    }
    read::check(&nights, args, &subject, &known)?;
    let sources = sources(&nights, &kept, context, printer)?;
    let trend = nights.trend(known.job.unwrap_or(subject.job), shown, &sources);
    match args.json {
        true => {
            let json = serde_json::to_string_pretty(&trend).map_err(|error| CliError::Internal(error.to_string()))?;
            printer.data(&format!("{json}\n"))?;
        }
        false => printer.data(&report::trend(&trend, context.screen(args.verbose), context.is_ascii))?,
    }
    Ok(0)
}

/// The suspected sources of flips: the conversations of the nights that are shown are read, as far as they tell.
fn sources(nights: &Nights, shown: &[KeptRun], context: &Context, printer: &Printer) -> Result<Sources, StoreError> {
    let flakes = nights.flakes();
    let keys: BTreeSet<&FlakeKey> = flakes.iter().take(MAX_CASES_READ).map(|flake| &flake.key).collect();
    let mut sources = Sources::from_keys(keys.iter().copied());
    let newest = nights.all().last().map(|night| night.rules);
    for run in shown {
        let Some(night) = nights.all().iter().rev().find(|night| night.run == run.figures.run.id) else { continue };
        if Some(night.rules) != newest || !night.tells_of(&keys) {
            continue;
        }
        sources.begin_night();
        let bar = run.figures.min_score;
        let mut journal = run.open()?.with_redactor(context.redactor().clone());
        let read = journal.read_with_texts(|trial| {
            if nights.has(&trial.trial) {
                sources.add(&trial, bar);
            }
            Ok(())
        });
        if let Err(error) = read {
            printer.note(&format!("note: {error}"));
        }
    }
    Ok(sources)
}
