//! `eval-job list`

use std::cell::OnceCell;

use serde::Serialize;

use super::args::ListArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::reindex::tell_trouble;
use super::team;
use crate::record::ListedRun;
use crate::report;
use crate::store::Store;
use crate::store::folder::{RunsFolder, StoreError};
use crate::store::sqlite::IndexedRuns;

/// How many lines are written at once.
const AT_ONCE: usize = 200;

/// Shows the runs that are kept, oldest first.
pub(super) fn list(args: &ListArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let unended = UnendedRuns::new(RunsFolder::at(&args.runs.runs_dir));
    let runs = IndexedRuns::new(RunsFolder::at(&args.runs.runs_dir));
    let mut elsewhere = team::elsewhere(&args.runs.runs_dir, context, printer)?.into_iter().peekable();
    let here: Box<dyn Iterator<Item = Result<ListedRun, StoreError>>> = match runs.runs() {
        Err(StoreError::NoRuns { .. }) if elsewhere.peek().is_some() => Box::new(std::iter::empty()),
        here => Box::new(here?),
    };
    let mut here = here.peekable();
    let both = std::iter::from_fn(|| match (here.peek(), elsewhere.peek()) {
        (Some(Ok(run)), Some(other)) if other.started_at < run.started_at => elsewhere.next().map(Ok),
        (None, _) => elsewhere.next().map(Ok),
        _ => here.next(),
    });
    let (mut lines, mut count) = (String::new(), 0_usize);
    for run in both {
        let run = match run {
            Ok(run) => run,
            Err(StoreError::JustBegun(_)) => continue,
            Err(error) => {
                printer.note(&format!("note: {error}"));
                continue;
            }
        };
        match args.json {
            true => {
                lines += &format!("{}{}", if count == 0 { "[\n" } else { ",\n" }, json(&run, unended.state_of(&run))?)
            }
            false => {
                let label = unended.state_of(&run).label().unwrap_or(run.verdict_label());
                lines += &format!("{}\n", report::listing_as(&run, label, context.stdout_ink, context.width));
            }
        }
        count += 1;
        if count.is_multiple_of(AT_ONCE) {
            printer.data(&std::mem::take(&mut lines))?;
        }
    }
    if args.json {
        lines += if count == 0 { "[]\n" } else { "\n]\n" };
    }
    printer.data(&lines)?;
    tell_trouble(&runs, printer);
    Ok(0)
}

/// Whether a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum RunState {
    /// It has, however it did.
    Ended,
    /// A process goes on with it.
    Running,
    /// It was cut off, and can be resumed.
    CutOff,
}

impl RunState {
    /// The word for a run without a verdict.
    fn label(self) -> Option<&'static str> {
        match self {
            RunState::Ended => None,
            RunState::Running => Some("goes on"),
            RunState::CutOff => Some("cut off"),
        }
    }
}

/// Finds the folders of runs without an end: the names are read once, and only where there is such a run.
struct UnendedRuns {
    runs: RunsFolder,
    names: OnceCell<Vec<String>>,
}

impl UnendedRuns {
    fn new(runs: RunsFolder) -> UnendedRuns {
        UnendedRuns { runs, names: OnceCell::new() }
    }

    /// Whether a run has ended; one that is kept elsewhere has.
    fn state_of(&self, run: &ListedRun) -> RunState {
        if run.finished_at.is_some() {
            return RunState::Ended;
        }
        let end = format!("-{}", run.id);
        let names = self.names.get_or_init(|| self.runs.folder_names());
        match names.iter().find(|name| name.ends_with(&end)) {
            Some(name) if self.runs.is_being_written(name) => RunState::Running,
            Some(_) => RunState::CutOff,
            None => RunState::Ended,
        }
    }
}

/// A run on one line.
fn json(run: &ListedRun, state: RunState) -> Result<String, CliError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        #[serde(flatten)]
        run: &'a ListedRun,
        exit_status: u8,
        state: RunState,
    }
    let line = Line { run, exit_status: run.verdict.exit_status(), state };
    serde_json::to_string(&line).map_err(|error| CliError::Internal(error.to_string()))
}
