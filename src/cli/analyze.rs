//! `eval-job analyze [RUN]`

use super::args::AnalyzeArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::stored::StoredPrompts;
use super::team;
use crate::report::{Analysis, terminal_json};
use crate::store::StoredRun;
use crate::store::folder::RunsFolder;

/// Shows what went wrong in a run, grouped. It is a look, so the status is 0 whatever the run's is.
pub(super) fn analyze(args: &AnalyzeArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    team::bring(&[args.run.as_deref()], &args.runs.runs_dir, context, printer)?;
    let mut run = RunsFolder::at(&args.runs.runs_dir)
        .open_unattended(args.run.as_deref())?
        .with_redactor(context.redactor().clone());
    let overview = run.read(|_, _| ())?;
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    let stored = StoredPrompts::from_run(&run, context.clock);
    let mut analysis = Analysis::default();
    for trial in run.trials() {
        let trial = trial?;
        analysis.add(&trial, &stored.review(&trial));
    }
    if args.json {
        let json = serde_json::to_string_pretty(&analysis.into_json(&overview))
            .map_err(|error| CliError::Internal(error.to_string()))?;
        printer.data(&format!("{}\n", terminal_json(&json)))?;
    } else {
        printer.data(&analysis.page(&overview, context.screen(false)))?;
    }
    Ok(0)
}
