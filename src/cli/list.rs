//! `eval-job list`

use super::args::RunsArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::report;
use crate::store::Store;
use crate::store::folder::RunsFolder;

/// Shows the runs that are kept, oldest first.
pub(super) fn list(args: &RunsArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let runs = RunsFolder::at(&args.runs_dir);
    for run in runs.runs()? {
        match run {
            Ok(run) => printer.data(&format!("{}\n", report::listing(&run, context.stdout_ink)))?,
            Err(error) => printer.note(&format!("note: {error}")),
        }
    }
    Ok(0)
}
