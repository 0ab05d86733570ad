//! Finds and reads the runs to merge.

use std::path::{Path, PathBuf};

use super::{PartRun, refused};
use crate::cli::args::MergeArgs;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::printer::Printer;
use crate::record::RunStart;
use crate::report::{count, plain};
use crate::store::folder::{RunsFolder, StoreError};
use crate::store::{Store, StoredRun};

/// Reads the runs that the arguments mean; those of a folder that are no parts are left out.
pub(super) fn read_all(args: &MergeArgs, context: &Context, printer: &Printer) -> Result<Vec<PartRun>, CliError> {
    let (mut found, mut folders, mut left_out): (Vec<PartRun>, Vec<PathBuf>, usize) = (Vec::new(), Vec::new(), 0);
    for typed in &args.runs {
        let (places, is_folder) = match typed.is_dir() && !RunsFolder::is_run(typed) {
            true => (run_folders(typed)?, true),
            false if RunsFolder::is_run(typed) => (vec![typed.clone()], false),
            false => (vec![by_id(&typed.to_string_lossy(), args)?], false),
        };
        for folder in places {
            // A run that several arguments mean is one.
            if folders.contains(&folder) {
                continue;
            }
            let read = read(&folder, context)?;
            folders.push(folder);
            match is_folder && read.beginning.provenance.part.is_none() {
                true => left_out += 1,
                false => found.push(read),
            }
        }
    }
    if left_out > 0 {
        printer.note(&format!("note: {} left out: made without --partition", count(left_out, "run")));
    }
    match found.is_empty() {
        true => Err(refused(
            "there are no runs of parts in these folders",
            "the folders in which `run --partition` kept its runs",
        )),
        false => Ok(found),
    }
}

/// The folder of a run that is named by its id.
fn by_id(id: &str, args: &MergeArgs) -> Result<PathBuf, CliError> {
    RunsFolder::at(&args.runs_dir.runs_dir).find(Some(id)).map_err(|error| match error {
        StoreError::NoRuns { path } | StoreError::NoSuchRun { path, .. } => refused(
            &format!("there is neither a folder nor a run `{}` in {}", plain(id), path.display()),
            "the folder of the part's runs, or the right --runs-dir",
        ),
        error => error.into(),
    })
}

/// The run folders in a folder and below it, by path.
fn run_folders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let unreadable = |source| StoreError::Io { doing: "could not read", path: folder.to_path_buf(), source };
    let mut inner: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // A link to a folder can lead back to where it is.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            inner.push(entry.path());
        }
    }
    inner.sort();
    let mut found = Vec::new();
    for path in inner {
        match RunsFolder::is_run(&path) {
            true => found.push(path),
            false => found.extend(run_folders(&path)?),
        }
    }
    Ok(found)
}

fn read(folder: &Path, context: &Context) -> Result<PartRun, CliError> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut run = RunsFolder::at(parent).open(Some(&name))?.with_redactor(context.redactor().clone());
    let overview = run.read(|_, _| ())?;
    if overview.is_damaged() {
        let why = run.note.clone().unwrap_or_else(|| "its journal is damaged".to_owned());
        return Err(refused(&format!("run {}: {why}", overview.summary.id), "hold this part again"));
    }
    let beginning = run.first_entry()?.and_then(RunStart::from_entry);
    let mut beginning = beginning.ok_or_else(|| CliError::Internal("a run without a beginning was read".to_owned()))?;
    // Those that it went on with, where it did.
    let priced = &overview.summary.provenance;
    beginning.provenance.prices.clone_from(&priced.prices);
    beginning.provenance.prices_dated.clone_from(&priced.prices_dated);
    Ok(PartRun { run, beginning, overview })
}
