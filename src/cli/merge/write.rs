//! Writes a merged run: a run folder like any other, whose journal is those of the parts.

use super::super::compare::baseline_check;
use super::{MergedRun, PartRun};
use crate::cli::args::MergeArgs;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::invocation::Invocation;
use crate::cli::run::runtime;
use crate::cli::stored::StoredPrompts;
use crate::cli::team;
use crate::record::{Entry, Merge, RunSummary};
use crate::report::Gathered;
use crate::store::folder::{Journal, JournalFile, NewRun, RunsFolder, StoreError};
use crate::store::{Store, StoredRun};

/// How many entries are queued before they are written.
const AT_ONCE: usize = 1000;

/// Writes the merged run, and reads it back.
pub(super) fn write(
    invocation: Invocation<'_, MergeArgs>,
    parts: &[PartRun],
    merge: Merge,
) -> Result<MergedRun, CliError> {
    let Invocation { args, context, printer } = invocation;
    let mut chance = fastrand::Rng::with_seed(Context::random());
    let created =
        RunsFolder::at(&args.runs_dir.runs_dir).create(&merge.provenance().job, merge.started_at(), &mut chance);
    let NewRun { id, folder, journal } = created.map_err(CliError::NoRunsFolder)?;
    let journal = journal.with_redactor(context.redactor().clone());
    append_all(&journal, parts, merge, id).map_err(|error| match error {
        AppendError::Store(error) => CliError::Store(error),
        AppendError::Write(source) => CliError::Journal { folder: folder.clone(), source, next: None, resume: None },
    })?;
    let failed = |source| CliError::Journal { folder: folder.clone(), source, next: None, resume: None };
    let mut run = JournalFile::from_journal(&folder, &journal).with_redactor(context.redactor().clone());
    if let Some(name) = &run.planned()?.summary.provenance.gate.baseline {
        team::bring(&[Some(name)], &args.runs_dir.runs_dir, context, printer)?;
    }
    if let Some(check) = baseline_check(&mut run, &args.runs_dir.runs_dir, context)? {
        journal
            .append(&Entry::BaselineCompared { at: context.clock.wall(), check: Box::new(check) })
            .map_err(failed)?;
        runtime()?.block_on(journal.synced()).map_err(failed)?;
    }
    let mut gathered = Gathered::planned(&run.planned()?);
    let overview = run.read(|group, trial| gathered.add(group, trial))?;
    run.write_summary(&overview.summary)?;
    let prompts = StoredPrompts::from_run(&run, context.clock);
    Ok(MergedRun { folder, run, overview, gathered, prompts })
}

/// Why entries could not be joined.
enum AppendError {
    Store(StoreError),
    Write(std::io::Error),
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> AppendError {
        AppendError::Store(error)
    }
}

impl From<std::io::Error> for AppendError {
    fn from(error: std::io::Error) -> AppendError {
        AppendError::Write(error)
    }
}

/// Appends the entries of all parts, with the new numbers of their trials, and how the whole ended.
fn append_all(journal: &Journal, parts: &[PartRun], merge: Merge, id: String) -> Result<(), AppendError> {
    let runtime = runtime().map_err(|_| std::io::Error::other("the runtime could not be started"))?;
    let (order, numbers) = (merge.order.clone(), merge.numbers.clone());
    journal.append(&merge.entry(id))?;
    for at in &order {
        let mut queued = 0;
        parts[*at].run.each_entry(|entry| {
            // Entries about the whole run are written once, at the end.
            let number = entry.trial().and_then(|trial| numbers[*at].get(&trial).copied());
            let Some(number) = number else { return Ok(()) };
            journal.append(&entry.with_trial(number))?;
            queued += 1;
            if queued % AT_ONCE == 0 {
                runtime.block_on(journal.written())?;
            }
            Ok::<(), AppendError>(())
        })?;
    }
    for entry in endings(order.iter().map(|at| &parts[*at])) {
        journal.append(&entry)?;
    }
    runtime.block_on(journal.synced())?;
    Ok(())
}

/// How the whole ended: a limit that a part reached, and the end of the last part, if all came to one.
fn endings<'a>(parts: impl Iterator<Item = &'a PartRun>) -> Vec<Entry> {
    let summaries: Vec<&RunSummary> = parts.map(|part| &part.overview.summary).collect();
    let limit = |run: &&RunSummary| {
        let part = run.provenance.part.as_ref()?;
        Some(format!("in part {} of {}, {}", part.number, part.of, run.limit_reached.as_ref()?))
    };
    let limits: Vec<String> = summaries.iter().filter_map(limit).collect();
    let ended = summaries.iter().map(|run| run.finished_at).collect::<Option<Vec<_>>>();
    let ended = ended.and_then(|ended| ended.into_iter().max());
    let at = ended.or_else(|| summaries.iter().map(|run| run.started_at).max()).unwrap_or_default();
    let interrupted = summaries.iter().any(|run| run.interrupted);
    // What a part could not pay for says nothing of the limits of the whole.
    let limit = (!limits.is_empty()).then(|| Entry::LimitReached { at, why: limits.join("; "), wanted: None });
    limit.into_iter().chain(ended.map(|at| Entry::RunFinished { at, interrupted })).collect()
}
