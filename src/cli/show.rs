//! `eval-job show [ID]`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::args::ShowArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::record::{DocumentError, Overview, write_document};
use crate::report::{self, Gathered};
use crate::store::folder::RunsFolder;
use crate::store::{Store, StoredRun};

/// Shows a run again. The status is that of the run, so that a script can ask once more.
pub(super) fn show(args: &ShowArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    check_outputs(&args.output)?;
    // A run may have been kept before keys were cleared from it.
    let mut run =
        RunsFolder::at(&args.runs.runs_dir).open(args.id.as_deref())?.with_redactor(context.redactor().clone());
    let mut gathered = Gathered::default();
    let overview = run.read(|group, trial| gathered.add(group, trial))?;
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    if args.verbose {
        for trial in run.trials() {
            printer.data(&report::conversation(&overview, &trial?, context.stdout_ink))?;
        }
    }
    printer.data(&report::terminal(&overview, &gathered, context.stdout_ink, context.width))?;
    write_outputs(&args.output, &run, &overview)?;
    Ok(overview.summary.verdict.exit_status())
}

/// Refuses endings that tell no format and folders that are not there, before anything else happens.
pub(super) fn check_outputs(outputs: &[PathBuf]) -> Result<(), CliError> {
    for path in outputs {
        if path.extension().is_none_or(|ending| ending != "json") {
            return Err(CliError::UnknownFormat(path.clone()));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            let what = format!("there is no folder {}", folder.display());
            let source = io::Error::new(io::ErrorKind::NotFound, what);
            return Err(CliError::Unwritable { path: path.clone(), source });
        }
    }
    Ok(())
}

/// Writes the run to every file that was asked for.
pub(super) fn write_outputs(outputs: &[PathBuf], run: &impl StoredRun, overview: &Overview) -> Result<(), CliError> {
    for path in outputs {
        let unwritable = |source| CliError::Unwritable { path: path.clone(), source };
        let file = BufWriter::new(File::create(path).map_err(unwritable)?);
        write_output(path, run, overview, file)?;
    }
    Ok(())
}

/// The same for a process that may end meanwhile: a file that was there before is replaced by a whole one, or not at all.
pub(super) fn write_at_once(outputs: &[PathBuf], run: &impl StoredRun, overview: &Overview) -> Result<(), CliError> {
    for path in outputs {
        let mut text = Vec::new();
        write_output(path, run, overview, &mut text)?;
        std::fs::write(path, text).map_err(|source| CliError::Unwritable { path: path.clone(), source })?;
    }
    Ok(())
}

fn write_output(path: &Path, run: &impl StoredRun, overview: &Overview, out: impl Write) -> Result<(), CliError> {
    let is_tokens = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("tokens.json"));
    let written = match is_tokens {
        true => report::write_token_file(overview, run.trials(), out),
        false => write_document(&overview.summary, run.trials(), out),
    };
    written.map_err(|error| match error {
        DocumentError::Read(error) => error.into(),
        DocumentError::Write(source) => CliError::Unwritable { path: path.to_path_buf(), source },
    })
}
