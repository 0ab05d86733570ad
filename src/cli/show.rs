//! `eval-job show [ID]`

use std::fs;
use std::io;
use std::path::PathBuf;

use super::args::ShowArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::record::RunRecord;
use crate::report;
use crate::store::folder::RunsFolder;

/// Shows a run again. The status is that of the run, so that a script can ask once more.
pub(super) fn show(args: &ShowArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    check_outputs(&args.output)?;
    let mut found = RunsFolder::at(&args.runs.runs_dir).find(args.id.as_deref())?.read()?;
    // Of a run that was kept before keys were cleared from it.
    let internal = |error: serde_json::Error| CliError::Internal(error.to_string());
    let json = serde_json::to_vec(&found.record).map_err(internal)?;
    if let Some(cleared) = context.redactor().cleared(&found.record, &json).map_err(internal)? {
        found.record = cleared;
    }
    if let Some(note) = &found.note {
        printer.note(&format!("note: {note}"));
    }
    if args.verbose {
        printer.data(&report::conversations(&found.record, context.stdout_ink))?;
    }
    printer.data(&report::terminal(&found.record, context.stdout_ink, context.width))?;
    write_outputs(&args.output, &found.record)?;
    Ok(found.record.verdict.exit_status())
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

/// Writes the record to every file that was asked for.
pub(super) fn write_outputs(outputs: &[PathBuf], record: &RunRecord) -> Result<(), CliError> {
    for path in outputs {
        let unwritable = |source| CliError::Unwritable { path: path.clone(), source };
        let is_tokens = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("tokens.json"));
        let json = if is_tokens { report::token_file(record) } else { record.to_json() };
        let json = json.map_err(|error| CliError::Internal(error.to_string()))?;
        fs::write(path, json).map_err(unwritable)?;
    }
    Ok(())
}
