//! `eval-job audit RUN…`: what the assertions of stored runs notice.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::args::AuditArgs;
use super::error::CliError;
use super::invocation::Invocation;
use super::stored::StoredCases;
use crate::job::Job;
use crate::record::{MutatedTrial, NotMutated, Verdict, mutation_counts};
use crate::report;
use crate::run::{self, RecordedTrial};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoreError};

/// Parts what was typed into stored runs and the rest, which are files. A run is its folder, or, where no file of that name is
/// there, what finds it among all runs.
pub(super) fn part(args: &AuditArgs) -> Result<(Vec<JournalFile>, Vec<PathBuf>), CliError> {
    let (mut runs, mut files) = (Vec::new(), Vec::new());
    for path in &args.files {
        match open(path, &args.runs.runs_dir) {
            Some(run) => runs.push(run?),
            None => files.push(path.clone()),
        }
    }
    Ok((runs, files))
}

fn open(path: &Path, runs: &Path) -> Option<Result<JournalFile, StoreError>> {
    if RunsFolder::is_run(path) {
        let name = path.file_name()?.to_str()?;
        return Some(RunsFolder::at(path.parent()?).open(Some(name)));
    }
    if path.exists() || path.as_os_str() == "-" {
        return None;
    }
    match RunsFolder::at(runs).open(Some(path.to_str()?)) {
        Err(StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. }) => None,
        run => Some(run),
    }
}

/// Mutates what a stored run did to its graph, and shows what its assertions notice. The status is 102 where that could not be
/// determined of a conversation, or of any.
pub(super) fn mutate(
    invocation: Invocation<'_, AuditArgs>,
    run: JournalFile,
    runtime: &Runtime,
) -> Result<(u8, Value), CliError> {
    let Invocation { args, context, printer } = invocation;
    let mut run = run.with_redactor(context.redactor().clone());
    let planned = run.planned()?;
    let unreadable = |why: &str| StoreError::Unreadable { path: run.path().to_path_buf(), why: why.to_owned() };
    let kept = run.job.as_deref().ok_or_else(|| unreadable("an earlier version kept it without its job"))?;
    let job = Job::restored(kept).map_err(|why| unreadable(&format!("its job is not whole: {why}")))?;
    let (cases, id) = (StoredCases::new(&job), planned.summary.id.clone());
    let mut mutated: Vec<(u32, MutatedTrial)> = Vec::new();
    run.read_with_texts(|trial| {
        let untried = |why: &str| MutatedTrial {
            case: trial.trial.case.clone(),
            trial: trial.trial.key(),
            not_mutated: Some(NotMutated::Unknown(why.to_owned())),
            ..MutatedTrial::default()
        };
        let tried = match (cases.case(&trial), &trial.evidence) {
            (Some(case), Some(evidence)) => {
                let (trial, clock) = (&trial.trial, context.clock);
                let recorded = RecordedTrial { run: &id, job: &job, case: &case, trial, evidence, clock };
                runtime.block_on(run::mutate(recorded))
            }
            (None, _) => untried("its case was not kept"),
            (_, None) => untried("it was never run"),
        };
        mutated.push((trial.trial.number, tried));
        Ok(())
    })?;
    mutated.sort_by_key(|(number, _)| *number);
    let trials: Vec<MutatedTrial> = mutated.into_iter().map(|(_, trial)| trial).collect();
    let (noticed, all) = mutation_counts(&trials);
    if !args.json {
        printer.data(&report::mutation(&id, &job.name, &trials))?;
    }
    let unknown =
        |it: &MutatedTrial| matches!(it.not_mutated, Some(NotMutated::Unknown(_))) || it.not_measured.is_some();
    let is_unknown = all == 0 || trials.iter().any(unknown);
    let status = if is_unknown { Verdict::Incomplete.exit_status() } else { 0 };
    Ok((status, json!({"run": id, "job": job.name, "noticed": noticed, "mutants": all, "trials": trials})))
}
