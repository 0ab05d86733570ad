//! `eval-job validate FILE…`

use super::args::ValidateArgs;
use super::error::CliError;
use super::jobs;
use super::printer::Printer;
use crate::report::{count, plain};

/// Checks job files without touching a network.
pub(super) fn validate(args: &ValidateArgs, printer: &Printer) -> Result<u8, CliError> {
    for loaded in jobs::load(&args.files, args.prompts.as_deref())? {
        let job = &loaded.job;
        printer.data(&format!(
            "{}: valid · {} · {} · {} · {}\n",
            plain(&loaded.file),
            plain(&job.name),
            count(job.tasks.len(), "task"),
            count(job.facts.len(), "fact"),
            count(job.assertions.len(), "assertion"),
        ))?;
    }
    Ok(0)
}
