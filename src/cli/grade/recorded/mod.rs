//! `eval-job grade --dataset FILE --actual RECORDED`: what was already said and done is graded, and kept as a run.

mod expected;
mod judged;
mod keeper;
mod kept;
mod run;
mod script_match;
mod trials;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::super::args::{GradeArgs, MetricSetArg, RecordedArgs};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::invocation::Invocation;
use super::super::outputs::{self, OutputFile, OutputRun};
use super::super::printer::Printer;
use super::super::recordings::{RecordedConversationKey, RecordedConversations};
use super::super::selection::{self, Selected};
use super::{asking, listen};
use crate::dataset::{Matching, match_cases};
use crate::plan::{self, Refusal};
use crate::record::Verdict;
use crate::report::{count, one_line, plain};
use expected::ExpectedJob;
pub(super) use expected::load_dataset;
pub(super) use run::{GradingScope, Matched, keep};

use run::RecordedRun;

/// Grades recorded conversations by the cases of a file. The status is that of the worst verdict.
pub(super) fn grade(
    invocation: Invocation<'_, GradeArgs>,
    dataset: &str,
    files: &[OutputFile],
) -> Result<u8, CliError> {
    let Invocation { args, context, printer } = invocation;
    let (jobs, mut notes) = expected::load(dataset, args, context)?;
    let held = recordings(args, dataset, context)?;
    let matched = match_all(jobs, &held, &mut notes);
    let matched = select(args, matched, &mut notes)?;
    notes.extend(few(&held.warnings));
    notes.iter().for_each(|note| printer.note(&format!("note: {}", plain(note))));
    let asking = asking(args, context, printer)?;
    if let Some(asking) = &asking {
        matched.iter().try_for_each(|it| asking.check(&it.loaded.job, it.loaded.file.clone()))?;
        let alike: BTreeSet<String> = matched.iter().filter_map(|it| plan::samples_alike(&it.loaded.job)).collect();
        alike.iter().for_each(|note| printer.note(&format!("note: {}", plain(note))));
    }
    let signals = match &asking {
        Some(asking) => asking.signals.clone(),
        None => listen(printer)?,
    };
    let scope = GradingScope { args, context, interrupt: &signals.interrupt };
    let (mut ended, mut worst) = (Vec::new(), Verdict::Passed);
    for job in matched {
        let run = keep(job, &held, scope, asking.as_ref())?;
        few(&run.notes).iter().for_each(|note| printer.note(&format!("note: {}", plain(note))));
        let is_interrupted = signals.interrupt.is_cancelled();
        let verdict = run.show(args, context, printer)?;
        printer.note(&run.kept_text(args));
        worst = if verdict.exit_status() > worst.exit_status() { verdict } else { worst };
        ended.push(run);
        if is_interrupted {
            break;
        }
    }
    if !files.is_empty() {
        let graded: Vec<OutputRun<'_, _>> = ended.iter().filter_map(RecordedRun::output).collect();
        outputs::write(files, &graded)?;
    }
    if let Some(asking) = asking {
        asking.runtime.shutdown_background();
    }
    Ok(worst.exit_status())
}

/// What was said and done: what `--actual` names, or else the file of the cases, where it has that too.
fn recordings(args: &GradeArgs, typed: &str, context: &Context) -> Result<RecordedConversations, CliError> {
    let open = |names: &[String]| RecordedConversations::open(names, &args.runs_dir.runs_dir, context.redactor());
    if !args.recorded.actual.is_empty() {
        return open(&args.recorded.actual);
    }
    let what = format!("nothing that an agent said is recorded in {}", plain(typed));
    let refusal = Refusal::new(what, "the recordings: --actual FILE, a folder, or the id of a run");
    // `FILE:case1,case2` selects cases of the file, and an eval set may be named without its ending. A run is never meant.
    let file = if Path::new(typed).exists() { typed } else { typed.rsplit_once(':').map_or(typed, |(file, _)| file) };
    let file = match Path::new(file).exists() {
        true => file.to_owned(),
        false => format!("{file}.evalset.json"),
    };
    if !Path::new(&file).exists() {
        return Err(CliError::Unprepared(refusal));
    }
    let held = open(&[file]).map_err(|error| match error {
        CliError::InvalidJobs(_) => CliError::Unprepared(refusal),
        other => other,
    })?;
    // Of a folder's files each has its own cases: one must not be graded by what another one recorded.
    let mut files: HashMap<&str, &Path> = HashMap::new();
    for RecordedConversationKey { key, .. } in &held.keys {
        let first = files.entry(&key.id).or_insert(&key.file);
        if **first != *key.file {
            let (first, second) = (first.display().to_string(), key.file.display().to_string());
            let what = format!("{} is recorded in {} and in {}", plain(&key.id), plain(&first), plain(&second));
            return Err(CliError::Unprepared(Refusal::new(what, "one of the files, or the recordings: --actual")));
        }
    }
    Ok(held)
}

/// Tells flags that mean something with `--dataset` only.
pub(super) fn note_unused(args: &RecordedArgs, printer: &Printer) {
    let RecordedArgs { min_score, selection, reading, .. } = args;
    let used = [
        (min_score.is_some(), "--min-score"),
        (!selection.tag.is_empty(), "--tag"),
        (!selection.filter.is_empty(), "--filter"),
        (selection.limit.is_some(), "--limit"),
        (reading.config_file_path.is_some(), "--config-file-path"),
        (reading.session_file.is_some(), "--session-file"),
        (reading.dialect_strict, "--dialect-strict"),
        (reading.metric_set != MetricSetArg::default(), "--metric-set"),
    ];
    let names: Vec<&str> = used.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
    if !names.is_empty() {
        printer.note(&format!("note: without --dataset nothing comes of {}", names.join(", ")));
    }
}

/// Finds the case of each recording, and tells what has none.
fn match_all(jobs: Vec<ExpectedJob>, held: &RecordedConversations, notes: &mut Vec<String>) -> Vec<Matched> {
    let keys: Vec<_> = held.keys.iter().map(|held| &held.key).collect();
    let is_only = jobs.len() == 1;
    let mut is_about_none = vec![true; keys.len()];
    let mut matched = Vec::new();
    for ExpectedJob { loaded, keys: cases, large } in jobs {
        let Matching { mut case_of, by_order } = match_cases(&cases, &keys);
        if by_order && !is_only {
            case_of.fill(None);
        } else if by_order {
            let one = if cases.len() == 1 {
                "all are taken for the only case"
            } else {
                "each is taken for the case in its place"
            };
            let help = "give them the cases' ids to be sure";
            notes.push(format!("no recording names a case, a session or a file that the cases know: {one}; {help}"));
        }
        for (is_about_none, case) in is_about_none.iter_mut().zip(&case_of) {
            *is_about_none &= case.is_none();
        }
        let known: BTreeSet<usize> = case_of.iter().flatten().copied().collect();
        let without = loaded.job.cases.iter().enumerate().filter(|(place, _)| !known.contains(place));
        let without: Vec<&str> = without.map(|(_, case)| case.id.as_str()).collect();
        notes.extend(listed(&without, "case", "without a recording"));
        let ids = loaded.job.cases.iter().map(|case| case.id.clone()).collect();
        matched.push(Matched { loaded, case_of, ids, large });
    }
    let strangers: Vec<&str> =
        keys.iter().zip(&is_about_none).filter(|(_, is)| **is).map(|(key, _)| key.id.as_str()).collect();
    notes.extend(listed(&strangers, "recording", "without a case"));
    matched
}

/// `2 recordings without a case: a, b`.
fn listed(ids: &[&str], noun: &str, without: &str) -> Option<String> {
    const MOST: usize = 20;
    let more = ids.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names: Vec<String> = ids.iter().take(MOST).map(|id| one_line(id, 60)).collect();
    (!ids.is_empty()).then(|| format!("{} {without}: {}{more}", count(ids.len(), noun), names.join(", ")))
}

/// The first of these sentences, and how many more there are.
fn few(warnings: &[String]) -> Vec<String> {
    const MOST: usize = 10;
    let more = warnings.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("{more} more warnings about the recordings"));
    warnings.iter().take(MOST).cloned().chain(more).collect()
}

/// Only the cases that the flags select.
fn select(args: &GradeArgs, matched: Vec<Matched>, notes: &mut Vec<String>) -> Result<Vec<Matched>, CliError> {
    let (mut loaded, mut rest) = (Vec::new(), Vec::new());
    for Matched { loaded: job, case_of, ids, large } in matched {
        rest.push((job.job.digest.clone(), (case_of, ids, large)));
        loaded.push(job);
    }
    let Selected { jobs, note } = selection::select(&args.recorded.selection, loaded)?;
    notes.extend(note);
    let mut selected = Vec::new();
    for job in jobs {
        let Some(at) = rest.iter().position(|(digest, _)| *digest == job.job.digest) else { continue };
        let (_, (case_of, ids, large)) = rest.swap_remove(at);
        selected.push(Matched { loaded: job, case_of, ids, large });
    }
    Ok(selected)
}
