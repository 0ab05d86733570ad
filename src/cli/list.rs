//! `eval-job list`

use super::args::RunsArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::report;
use crate::store::folder::RunsFolder;

/// Shows the runs that are kept, oldest first.
pub(super) fn list(args: &RunsArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let runs = RunsFolder::at(&args.runs_dir);
    for name in runs.names()? {
        match runs.find(Some(&name)).and_then(|folder| folder.read()) {
            Ok(found) => printer.data(&format!("{}\n", report::listing(&found.record, context.stdout_ink)))?,
            Err(error) => printer.note(&format!("note: {error}")),
        }
    }
    Ok(0)
}
