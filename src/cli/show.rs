//! `eval-job show [ID]`

use super::args::{ShowArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::export::Printed;
use super::outputs::{self, OutputFile, OutputRun, check_outputs};
use super::printer::Printer;
use super::rows::hanging;
use super::stored::StoredPrompts;
use super::team;
use crate::record::{DocumentError, FirstModel, Overview, TrialRecord, write_document};
use crate::report::{self, Gathered, PromptLength};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoreError, StoredRun};
use crate::text::nearest;

/// The column at which the words of a conversation begin.
const INDENT: usize = 3;

/// Shows a run again. The status is that of the run, so that a script can ask once more.
pub(super) fn show(args: &ShowArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let files = check_outputs(&args.output, &context.credentials.variables)?;
    if files.iter().any(OutputFile::is_stdout) {
        return Err(CliError::UnknownFormat("-".into()));
    }
    team::bring(&[args.id.as_deref()], &args.runs.runs_dir, context, printer)?;
    // A run may have been kept before keys were cleared from it.
    let mut run =
        RunsFolder::at(&args.runs.runs_dir).open(args.id.as_deref())?.with_redactor(context.redactor().clone());
    let mut gathered = Gathered::planned(&run.planned()?);
    // The places of single conversations are held only where these are read again.
    let is_read_again = args.json || args.turns || args.verbose > 0 || args.case.is_some() || !files.is_empty();
    let overview = match is_read_again {
        true => run.read(|group, trial| gathered.add(group, trial))?,
        false => run.read_through(|group, trial| gathered.add(group, trial))?,
    };
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    if overview.summary.finished_at.is_none() && !overview.is_damaged() {
        printer.note(&unended_text(&overview, &run, args));
    }
    let cases = args.case.as_deref().map(|case| cases(case, &overview)).transpose()?;
    let prompts = StoredPrompts::from_run(&run, context.clock);
    let shown = ShownRun { args, context, printer, run: &run, overview: &overview, prompts: &prompts, cases };
    match (args.json, args.turns) {
        (true, _) => shown.json()?,
        (false, true) => shown.turns()?,
        (false, false) => {
            shown.conversations()?;
            if shown.cases.is_none() {
                printer.data(&report::terminal(&overview, &gathered, context.screen(args.verbose > 0)))?;
            }
        }
    }
    outputs::write(&files, &[OutputRun { run: &run, prompts: &prompts, overview: &overview }])?;
    Ok(overview.summary.verdict.exit_status())
}

/// That a run has not ended: another process goes on with it, or it was cut off and can be resumed.
fn unended_text(overview: &Overview, run: &JournalFile, args: &ShowArgs) -> String {
    let id = &overview.summary.id;
    if run.is_being_written() {
        return format!("note: run {id} goes on in another process: this is what is kept of it so far");
    }
    if overview.summary.provenance.replayed.is_some() {
        return format!("note: run {id}, a replay, was cut off before its end; replay it again: it can't be resumed");
    }
    let flag = runs_dir_flag(&args.runs.runs_dir);
    if let Some(merged) = &overview.summary.provenance.merged {
        let parts: Vec<&str> = merged.parts.iter().map(|part| part.run.as_str()).collect();
        return format!(
            "note: run {id} was merged of runs of which not all had ended: eval-job run --resume RUN{flag} goes on with those of the \
             parts ({}), and eval-job merge merges them again",
            parts.join(", ")
        );
    }
    format!(
        "note: run {id} was cut off before its end; eval-job run --resume {id}{flag} (with the flags that it was begun with) goes on with it"
    )
}

/// The selected cases: the one with this id, else all whose ids have it in them.
fn cases(typed: &str, run: &Overview) -> Result<Vec<String>, CliError> {
    let mut known: Vec<&str> = run.groups.iter().map(|group| group.case.as_str()).collect();
    known.dedup();
    if known.contains(&typed) {
        return Ok(vec![typed.to_owned()]);
    }
    let lower = typed.to_lowercase();
    let selected: Vec<String> =
        known.iter().filter(|id| id.to_lowercase().contains(&lower)).map(|id| (*id).to_owned()).collect();
    if selected.is_empty() {
        let near = nearest(typed, known.iter().copied()).map(str::to_owned);
        let known = known.into_iter().map(str::to_owned).collect();
        return Err(CliError::NoSuchCase { case: typed.to_owned(), near, known });
    }
    Ok(selected)
}

/// A run that is shown.
struct ShownRun<'a> {
    args: &'a ShowArgs,
    context: &'a Context,
    printer: &'a Printer,
    run: &'a JournalFile,
    overview: &'a Overview,
    prompts: &'a StoredPrompts,
    /// Only these; all without any.
    cases: Option<Vec<String>>,
}

impl ShownRun<'_> {
    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>> {
        let is_selected =
            |trial: &TrialRecord| self.cases.as_ref().is_none_or(|cases| cases.contains(&trial.trial.case));
        self.run.trials().filter(move |trial| trial.as_ref().map_or(true, is_selected))
    }

    /// The record, or that of some conversations.
    fn json(&self) -> Result<(), CliError> {
        let trials = self.trials().map(|trial| trial.map(|trial| self.prompts.filled_in(trial)));
        let out = Printed { printer: self.printer, bytes: Vec::new() };
        write_document(&self.overview.summary, trials, out).map_err(|error| match error {
            DocumentError::Read(error) => CliError::Store(error),
            DocumentError::Write(error) => CliError::Stdout(error),
        })
    }

    /// Each conversation turn by turn.
    fn turns(&self) -> Result<(), CliError> {
        for trial in self.trials() {
            let page = report::turns(self.overview, &trial?, self.context.stdout_ink, self.context.width);
            self.printer.data(&page)?;
        }
        Ok(())
    }

    /// Each conversation word for word, with what the judge was asked; of a case also what they are worth.
    fn conversations(&self) -> Result<(), CliError> {
        if self.args.verbose == 0 && self.cases.is_none() {
            return Ok(());
        }
        let ink = self.context.stdout_ink;
        let fitted = |text: String| match self.context.stdout_breaks_at {
            Some(width) => hanging(&text, INDENT, width),
            None => text,
        };
        let mut first = FirstModel::new(&self.overview.summary);
        for trial in self.trials() {
            let trial = self.prompts.filled_in(trial?);
            let length = if self.args.verbose > 1 { PromptLength::Whole } else { PromptLength::Folded };
            self.printer.data(&fitted(report::conversation(self.overview, &trial, ink, length)))?;
            if let Some(divergence) = first.divergence(&trial) {
                self.printer.data(&fitted(report::divergence(&divergence, ink)))?;
            }
            if self.args.verbose > 0 {
                self.printer.data(&fitted(report::judging(&trial, ink, length)))?;
            }
            if self.cases.is_some() {
                self.printer.data(&report::scores(&trial, self.context.screen(true)))?;
            }
        }
        Ok(())
    }
}
