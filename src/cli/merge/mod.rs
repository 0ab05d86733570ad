//! `eval-job merge RUN…`: the runs of the parts of a suite become one run for each job.

mod find;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use find::read_all;
use write::write;

use super::args::{MergeArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::invocation::Invocation;
use super::outputs::{self, OutputFile, OutputRun, check_outputs};
use super::printer::Printer;
use super::reindex;
use super::stored::StoredPrompts;
use super::team;
use crate::plan::Refusal;
use crate::record::{Merge, MergeError, Overview, RunStart, RunSummary, Verdict};
use crate::report::{self, Gathered, count};
use crate::store::folder::JournalFile;

/// The run of a part, as it was read.
struct PartRun {
    run: JournalFile,
    beginning: RunStart,
    overview: Overview,
}

/// A merged run.
struct MergedRun {
    folder: PathBuf,
    run: JournalFile,
    overview: Overview,
    gathered: Gathered,
    prompts: StoredPrompts,
}

/// Merges the runs. Nothing is written before all of them are known to fit.
pub(super) fn merge(args: &MergeArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let files = check_outputs(&args.output, &context.credentials.variables)?;
    let groups = by_job(read_all(args, context, printer)?);
    let merges = groups.iter().map(|parts| merged(parts)).collect::<Result<Vec<Merge>, _>>()?;
    let lacking = lacking(&groups)?;
    let mut runs = Vec::new();
    for (parts, merge) in groups.iter().zip(merges) {
        notes(&merge, printer);
        let merged = write(Invocation { args, context, printer }, parts, merge)?;
        reindex::index(&merged.folder, context, printer);
        runs.push(merged);
    }
    show(&runs, Invocation { args, context, printer }, &files)?;
    team::send(&args.runs_dir.runs_dir, context, printer);
    let written: Vec<OutputRun<'_, JournalFile>> = runs.iter().map(MergedRun::output).collect();
    outputs::write(&files, &written)?;
    if let Some(document) = outputs::document(&files, &written)? {
        printer.data(&document)?;
    }
    let worst = runs.iter().map(|run| run.overview.summary.verdict.exit_status()).max().unwrap_or_default();
    let Some(lacking) = lacking else { return Ok(worst) };
    printer.note(&format!("incomplete: {lacking}"));
    Ok(worst.max(Verdict::Incomplete.exit_status()))
}

impl MergedRun {
    fn output(&self) -> OutputRun<'_, JournalFile> {
        OutputRun { run: &self.run, prompts: &self.prompts, overview: &self.overview }
    }
}

/// The runs of each job, in the order in which the jobs come first.
fn by_job(runs: Vec<PartRun>) -> Vec<Vec<PartRun>> {
    let mut groups: Vec<Vec<PartRun>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| group[0].beginning.is_of_same_job(&run.beginning)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

fn merged(parts: &[PartRun]) -> Result<Merge, CliError> {
    let beginnings: Vec<RunStart> = parts.iter().map(|part| part.beginning.clone()).collect();
    Merge::new(&beginnings).map_err(|error| {
        let help = match &error {
            MergeError::NoPart { .. } => "only runs of `eval-job run --partition K/N`",
            MergeError::Differs { .. } => "hold all parts with the same eval-job, job files and flags",
            MergeError::Overlaps { .. } => "name only one of them",
            MergeError::Unusable { .. } => "hold this part again",
        };
        refused(&error.to_string(), help)
    })
}

/// The cases of the suite of which no run is there, beside those of parts that the jobs themselves miss: of jobs that nobody here
/// knows.
///
/// # Errors
/// The parts belong to several suites.
fn lacking(groups: &[Vec<PartRun>]) -> Result<Option<String>, CliError> {
    let parts = || groups.iter().flatten().filter_map(|run| Some((run, run.beginning.provenance.part.as_ref()?)));
    let Some((first, suite)) = parts().next() else { return Ok(None) };
    if let Some((other, _)) = parts().find(|(_, part)| (part.of, &part.suite) != (suite.of, &suite.suite)) {
        let what = format!("runs {} and {} are parts of different suites", first.beginning.id, other.beginning.id);
        return Err(refused(&what, "the runs of one suite at a time, all split in the same way"));
    }
    let known = groups.iter().filter_map(|group| group[0].beginning.provenance.part.as_ref());
    let known = known.fold(vec![0; suite.suite.len()], |sum, part| {
        sum.iter().zip(&part.cases).map(|(sum, cases)| sum + cases).collect::<Vec<u32>>()
    });
    let lacks = (1..).zip(&suite.suite).zip(known).filter(|((_, all), known)| *all > known);
    let text = lacks.map(|((part, all), known)| {
        format!("{} of part {part} of {} in jobs that no run is of", count((all - known) as usize, "case"), suite.of)
    });
    let text: Vec<String> = text.collect();
    Ok((!text.is_empty()).then(|| text.join("; ")))
}

/// Tells what is missing, and what was not run with one seed.
fn notes(merge: &Merge, printer: &Printer) {
    let Some(merged) = &merge.provenance().merged else { return };
    let job = report::plain(&merge.provenance().job);
    if !merged.missing.is_empty() {
        printer.note(&format!("note: {job}: {}", merged.missing_text()));
    }
    if merged.parts.iter().any(|part| part.rng_seed != merged.parts[0].rng_seed) {
        printer.note(&format!(
            "note: {job}: the parts were run with different seeds; one --rng-seed for all of them gives them one"
        ));
    }
}

/// Shows the merged runs as `run` does.
fn show(runs: &[MergedRun], invocation: Invocation<'_, MergeArgs>, files: &[OutputFile]) -> Result<(), CliError> {
    let Invocation { args, context, printer } = invocation;
    let is_piped = files.iter().any(OutputFile::is_stdout);
    let print = |page: &str| match is_piped {
        true => {
            printer.note(page.trim_end_matches('\n'));
            Ok(())
        }
        false => printer.data(page),
    };
    let shown = |run: &MergedRun| {
        format!("eval-job show {}{}", run.overview.summary.id, runs_dir_flag(&args.runs_dir.runs_dir))
    };
    for run in runs {
        let MergedRun { folder, overview, gathered, .. } = run;
        print(&match overview.summary.verdict {
            Verdict::Passed if runs.len() > 1 && !args.verbose => {
                report::job_line(&overview.summary, context.screen(false))
            }
            _ => report::terminal(overview, gathered, context.screen(args.verbose)),
        })?;
        printer.note(&match runs {
            [only] => format!("kept in {}\nshow it again: {}", folder.display(), shown(only)),
            _ => format!("kept in {}", folder.display()),
        });
    }
    if runs.len() > 1 {
        let summaries: Vec<(&RunSummary, String)> =
            runs.iter().map(|run| (&run.overview.summary, shown(run))).collect();
        print(&report::jobs(&summaries, 0, context.screen(false)))?;
    }
    Ok(())
}

fn refused(what: &str, help: &str) -> CliError {
    CliError::Unprepared(Refusal::new(what.to_owned(), help.to_owned()))
}
