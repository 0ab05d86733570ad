//! `eval-job reindex`, and the index of runs as other commands meet it.

use std::path::Path;

use super::args::ReindexArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::team;
use crate::report::count;
use crate::store::folder::RunsFolder;
use crate::store::sqlite::{IndexTrouble, IndexedRuns};

/// Makes the index of runs again from their folders, and sends the store of the team whatever it does not have.
pub(super) fn reindex(args: &ReindexArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let folder = RunsFolder::at(&args.runs.runs_dir);
    let mut indexed = 0;
    IndexedRuns::rebuild(folder, |run| match run {
        Ok(_) => indexed += 1,
        Err(error) => printer.note(&format!("note: {error}")),
    })?;
    printer.note(&format!("{} indexed in {}", count(indexed, "run"), args.runs.runs_dir.display()));
    team::send_all(&args.runs.runs_dir, context, printer)?;
    Ok(0)
}

/// Indexes a run that has just ended, or ended again, and marks it as one to be sent.
pub(super) fn index(folder: &Path, context: &Context, printer: &Printer) {
    team::mark(folder, context, printer);
    let (Some(runs), Some(name)) = (folder.parent(), folder.file_name()) else { return };
    let runs = IndexedRuns::new(RunsFolder::at(runs));
    runs.add(&name.to_string_lossy());
    tell_trouble(&runs, printer);
}

/// Tells why the index of runs was of no use.
pub(super) fn tell_trouble(runs: &IndexedRuns, printer: &Printer) {
    if let Some(trouble) = runs.take_trouble() {
        printer.note(&format!("note: {}", trouble_text(&trouble)));
    }
}

fn trouble_text(trouble: &IndexTrouble) -> String {
    let again = if trouble.is_rebuilt() { "; eval-job reindex makes it again" } else { "" };
    format!("{trouble}: the folders of the runs are read, and nothing is lost{again}")
}
