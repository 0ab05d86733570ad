//! Runs of `eval-job run` that are over: their reports, their files, and what is left to the user.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{ResumeMode, RunArgs, quoted, runs_dir_flag};
use super::context::Context;
use super::detailed;
use super::error::CliError;
use super::grade::can_be_judged;
use super::lost_trials::LostTrials;
use super::outputs::{self, OutputFile, OutputRun};
use super::printer::Printer;
use super::resume::{resume_command, resume_command_of_one};
use super::signals::FinishedPart;
use super::stored::StoredPrompts;
use crate::record::{Overview, RunSummary, TrialRecord, Verdict};
use crate::report::{self, Gathered};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoreError, StoredRun};

/// A run that is over, as it was read back from its journal.
pub(super) struct EndedRun {
    pub(super) id: String,
    /// Its folder.
    pub(super) path: String,
    pub(super) run: JournalFile,
    pub(super) overview: Overview,
    pub(super) gathered: Gathered,
    pub(super) prompts: StoredPrompts,
    /// Whether its summary could be written.
    pub(super) summary_written: Result<(), StoreError>,
    /// Whether its recording, if there is one, is whole.
    pub(super) cassette_written: Result<(), CliError>,
}

impl EndedRun {
    /// Its meaning.
    pub(super) fn verdict(&self) -> Verdict {
        self.overview.summary.verdict
    }

    fn output(&self) -> OutputRun<'_, JournalFile> {
        OutputRun { run: &self.run, prompts: &self.prompts, overview: &self.overview }
    }
}

/// Writes all runs to the files of `-o`; nothing where there are none.
pub(super) fn write(files: &[OutputFile], runs: &[EndedRun]) -> Result<(), CliError> {
    let runs: Vec<OutputRun<'_, JournalFile>> = runs.iter().map(EndedRun::output).collect();
    if runs.is_empty() { Ok(()) } else { outputs::write(files, &runs) }
}

/// Prints all runs as one document, where `-o -` asks for it.
pub(super) fn print(files: &[OutputFile], runs: &[EndedRun], printer: &Printer) -> Result<(), CliError> {
    let runs: Vec<OutputRun<'_, JournalFile>> = runs.iter().map(EndedRun::output).collect();
    let document = if runs.is_empty() { None } else { outputs::document(files, &runs)? };
    document.map_or(Ok(()), |document| printer.data(&document))
}

/// How runs are shown.
#[derive(Clone, Copy)]
pub(super) struct RunDisplay<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) context: &'a Context,
    pub(super) printer: &'a Printer,
    /// Whether the command has one job.
    pub(super) is_only: bool,
    /// Whether standard output is for the record, so that reports go to standard error.
    pub(super) is_piped: bool,
}

impl RunDisplay<'_> {
    /// Shows a run; of several jobs one that passed is a line, unless everything is to be shown. Returns what went wrong
    /// with keeping it.
    pub(super) fn report(&self, ended: &mut EndedRun) -> Result<Option<CliError>, CliError> {
        let RunDisplay { args, context, printer, is_only, .. } = *self;
        let EndedRun { path, run, overview, gathered, summary_written, .. } = ended;
        let verdict = overview.summary.verdict;
        let mut printed = Ok(());
        if verdict != Verdict::Interrupted {
            if context.stderr_is_tty && !args.no_progress {
                // Where both streams meet on one screen, a blank line parts the progress from the report.
                printer.note("");
            }
            // Where it can't be printed, what follows says how to see it later.
            printed = self.print(&match verdict {
                Verdict::Passed if !is_only && !args.verbose => {
                    report::job_line(&overview.summary, context.screen(false))
                }
                _ => report::terminal(overview, gathered, context.screen(args.verbose)),
            });
            if args.print_detailed_results && printed.is_ok() {
                printed = detailed::print(run, context.clock, |page| self.print(page));
            }
        }
        match std::mem::replace(summary_written, Ok(())) {
            Ok(()) if !is_only && overview.unfinished() == 0 && verdict != Verdict::Interrupted => {
                printer.note(&format!("kept in {path}{}", self.missing_text(run, overview)))
            }
            Ok(()) => printer.note(&format!(
                "{}{}{}",
                self.kept_text(overview, path),
                judge_text(run, overview, args),
                self.missing_text(run, overview)
            )),
            // The report is whole, and the journal is where the folder was moved.
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let what = match run.is_deleted() {
                    true => {
                        "it was deleted while the run went on. The report is whole, and it is all that is left of the run"
                    }
                    false => {
                        "it was moved while the run went on. The report is whole; summary.json was not written, and the \
                         journal is where the folder is now"
                    }
                };
                printer.note(&format!("note: {path} is not there any more: {what}"));
            }
            Err(error) => {
                printer.note(&show_command_text(&overview.summary.id, "the journal is whole; show it again", args));
                return printed.map(|()| Some(error.into()));
            }
        }
        printed.map(|()| None)
    }

    fn print(&self, report: &str) -> Result<(), CliError> {
        if self.is_piped {
            self.printer.note(report.trim_end_matches('\n'));
            return Ok(());
        }
        self.printer.data(report)
    }

    /// Shows what all jobs came to; `planned` of them there were.
    pub(super) fn all(&self, ended: &[EndedRun], planned: usize) -> Result<(), CliError> {
        let runs: Vec<(&RunSummary, String)> =
            ended.iter().map(|run| (&run.overview.summary, show_command(&run.id, self.args, &[]))).collect();
        let not_run = planned - ended.len();
        self.print(&report::jobs(&runs, not_run, self.context.screen(false)))
    }

    /// The error of a file of `-o`, with the command that writes it later where there is one.
    pub(super) fn with_command(&self, error: CliError, ended: &[EndedRun]) -> CliError {
        match ended {
            [only] => error.written_by(|path| show_command(&only.id, self.args, &[as_typed(path, self.args)])),
            _ => error,
        }
    }
}

/// A run that is not over.
pub(super) struct UnfinishedRun<'a> {
    /// The ids of the runs before it.
    pub(super) earlier: Vec<String>,
    pub(super) id: &'a str,
    /// Its folder.
    pub(super) path: &'a str,
    /// The command that goes on with it, where it can be resumed.
    pub(super) resume: Option<&'a str>,
}

/// The words for a user who ends this process at once, and how the files of `-o` are written then: from the journals of
/// the runs before and of this one.
pub(super) fn kept_at_once(
    run: UnfinishedRun<'_>,
    args: &RunArgs,
    files: &[OutputFile],
    context: &Context,
) -> FinishedPart {
    let UnfinishedRun { earlier, id, path, resume } = run;
    let show = show_command_text(id, "show what there is", args);
    let resume = resume.map(|resume| format!("\nresume it: {resume}")).unwrap_or_default();
    let text = format!("ended at once: what was finished is kept in {path}\n{show}{resume}");
    let paths: Vec<String> = args.output.iter().map(|path| path.display().to_string()).collect();
    let written = match paths.is_empty() {
        true => Default::default(),
        false => {
            let names = paths.join(", ");
            let flags: String = paths.iter().map(|path| format!(" -o {}", quoted(path))).collect();
            let command = match earlier.is_empty() {
                true => format!("; {}{flags}", show_command_text(id, "they are written by", args)),
                false => String::new(),
            };
            [format!("\nwritten from what is kept: {names}"), format!("\nnot written: {names}{command}")]
        }
    };
    let ids: Vec<String> = earlier.into_iter().chain([id.to_owned()]).collect();
    let (runs, files, clock) = (args.runs.runs_dir.clone(), files.to_vec(), context.clock);
    let redactor = context.redactor().clone();
    let write = move || {
        let read = |id: &String| {
            let mut run = RunsFolder::at(&runs).open(Some(id)).ok()?.with_redactor(redactor.clone());
            let overview = run.read(|_, _| {}).ok()?;
            let prompts = StoredPrompts::from_run(&run, clock);
            Some((run, prompts, overview))
        };
        let read: Vec<_> = ids.iter().map(read).collect::<Option<_>>()?;
        let runs: Vec<_> = read.iter().map(|(run, prompts, overview)| OutputRun { run, prompts, overview }).collect();
        outputs::write_at_once(&files, &runs).ok()
    };
    FinishedPart { text, write: Arc::new(write), written }
}

/// The command with a place for the limits that were reached: the same ones would stop it again. A limit that the job file sets
/// is not among the flags yet: a flag goes before the file.
fn higher_limits(command: &str, why: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    for at in 1..words.len() {
        if matches!(words[at - 1], "--cost-limit" | "--token-limit") {
            words[at] = "HIGHER";
        }
    }
    let reached = if why.starts_with("limits.cost") { "--cost-limit" } else { "--token-limit" };
    if !words.contains(&reached) {
        words.extend([reached, "HIGHER"]);
    }
    words.join(" ")
}

impl RunDisplay<'_> {
    /// The command that goes on with a run; where the command has several jobs, their files of `-o` are not written anew by one.
    fn resume_command(&self, id: &str, mode: ResumeMode) -> String {
        match self.is_only {
            true => resume_command(id, mode, self.context),
            false => resume_command_of_one(id, mode, self.context),
        }
    }

    fn kept_text(&self, overview: &Overview, folder: &str) -> String {
        let args = self.args;
        let RunSummary { id, verdict, limit_reached, provenance, .. } = &overview.summary;
        let mode = args.resume.mode().unwrap_or(ResumeMode::Unfinished);
        let resume = match (overview.unfinished(), limit_reached) {
            (0, _) if *verdict != Verdict::Interrupted => String::new(),
            _ if provenance.replayed.is_some() => String::new(),
            // The time begins anew; what was spent is spent.
            (_, Some(why)) if !why.starts_with("limits.time") => {
                let command = higher_limits(&self.resume_command(id, mode), why);
                format!("\nresume it, with a higher limit: {command}")
            }
            _ => format!("\nresume it: {}", self.resume_command(id, mode)),
        };
        let kept = match verdict {
            Verdict::Interrupted => {
                let turns = report::count(overview.turns, "finished turn");
                format!("interrupted: {turns} kept in {folder}\n{}", show_command_text(id, "show what there is", args))
            }
            _ => format!("kept in {folder}\n{}", show_command_text(id, "show it again", args)),
        };
        format!("{kept}{resume}")
    }

    /// Of a run that has come to its end and lacks scores: the commands that ask its judge again, and that hold again what broke.
    /// Where nothing was said, the error before has the remedy.
    fn missing_text(&self, run: &JournalFile, overview: &Overview) -> String {
        let RunSummary { id, verdict, provenance, .. } = &overview.summary;
        if *verdict != Verdict::Incomplete || overview.unfinished() > 0 || overview.turns == 0 {
            return String::new();
        }
        let has_judge = judge_command(&overview.summary, self.args, None).is_some();
        let mut lost = LostTrials::default();
        run.trials().flatten().for_each(|trial| lost.add(&trial, has_judge));
        let other = lost.judge_is_misnamed.then_some("MODEL");
        // What another judge has answered since is no part of the run, and need not be asked for again.
        let is_graded = run.gradings().any(|grading| grading.is_whole && !grading.has_failures);
        let judge = judge_command(&overview.summary, self.args, other).filter(|_| lost.lack_verdict && !is_graded);
        let asks = if lost.judge_is_misnamed { "ask another judge" } else { "ask the judge again" };
        let judge = judge.map(|command| format!("\n{asks}: {command}"));
        let again = match (lost.may_go, lost.go_never) {
            // The agent of today must not be mixed with a recorded one.
            (true, _) if provenance.replayed.is_some() => {
                Some("\nwhat broke is so in the recording: record again, with --cassette-record".to_owned())
            }
            (true, _) => Some(format!("\nrun again what broke: {}", self.resume_command(id, ResumeMode::Errors))),
            (false, true) => {
                Some("\nwhat broke is the job file's or a flag's doing: correct it and run it again".to_owned())
            }
            (false, false) => None,
        };
        judge.into_iter().chain(again).collect()
    }
}

/// After an interruption: the command that judges the conversations that were over and are not judged yet.
fn judge_text(run: &JournalFile, overview: &Overview, args: &RunArgs) -> String {
    let is_left = |trial: &TrialRecord| trial.outcome.is_none() && can_be_judged(trial);
    match judge_command(&overview.summary, args, None) {
        Some(command)
            if overview.summary.verdict == Verdict::Interrupted && run.trials().flatten().any(|it| is_left(&it)) =>
        {
            format!("\njudge the finished conversations: {command}")
        }
        _ => String::new(),
    }
}

/// The command that asks the judge of a run what it has not answered; `None` where no model judges.
/// `other` stands in the place of the judge that there was.
fn judge_command(run: &RunSummary, args: &RunArgs, other: Option<&str>) -> Option<String> {
    let judge = &run.provenance.judge_model;
    let is_model = !["none", "scripted"].contains(&judge.as_str());
    let (judge, flag) =
        (other.map_or_else(|| judge.replace(", ", ","), str::to_owned), runs_dir_flag(&args.runs.runs_dir));
    is_model.then(|| format!("eval-job grade {}{flag} --scorer-model {}", run.id, quoted(&judge)))
}

fn show_command_text(id: &str, why: &str, args: &RunArgs) -> String {
    format!("{why}: {}", show_command(id, args, &[]))
}

/// A file of `-o` as it was typed, with the format before it.
fn as_typed<'a>(path: &'a Path, args: &'a RunArgs) -> &'a Path {
    let is_it = |typed: &&PathBuf| {
        let named = typed.to_str().and_then(|typed| typed.split_once('='));
        named.is_some_and(|(_, named)| Path::new(named) == path)
    };
    args.output.iter().find(is_it).map_or(path, PathBuf::as_path)
}

/// The command that shows a run again, and writes it to these files.
pub(super) fn show_command(id: &str, args: &RunArgs, outputs: &[&Path]) -> String {
    let runs_dir = runs_dir_flag(&args.runs.runs_dir);
    let outputs: String = outputs.iter().map(|path| format!(" -o {}", quoted(&path.to_string_lossy()))).collect();
    format!("eval-job show {id}{runs_dir}{outputs}")
}

#[cfg(test)]
mod tests {
    use super::higher_limits;

    #[test]
    fn the_limit_that_was_reached_has_a_place_wherever_it_was_set() {
        let command = "eval-job run --resume abc123 --token-limit 300";
        let tokens = "limits.tokens (300) is used up: 330 are spent";
        assert_eq!(higher_limits(command, tokens), "eval-job run --resume abc123 --token-limit HIGHER");
        let of_the_file = "eval-job run --resume abc123 --token-limit HIGHER";
        assert_eq!(higher_limits("eval-job run --resume abc123", tokens), of_the_file);
        let cost = "limits.cost ($0.50) is used up: $0.51 are spent";
        let both = "eval-job run --resume abc123 --token-limit HIGHER --cost-limit HIGHER";
        assert_eq!(higher_limits(command, cost), both);
    }
}
