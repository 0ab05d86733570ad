//! `summary.json` beside a journal: the run's summary, for whoever lists runs.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{StoreError, private};
use crate::record::{ListedRun, RunFigures, RunSummary};

/// Its name in a run's folder.
pub(in crate::store) const SUMMARY: &str = "summary.json";

/// The file's content.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<S> {
    #[serde(flatten)]
    summary: S,
    /// How many lines the journal had.
    journal_lines: usize,
}

/// The run as a list shows it, if there is a summary and this version can read it. Thousands are read at once: nothing else
/// of them is looked at.
pub(super) fn read(folder: &Path) -> Option<ListedRun> {
    let bytes = fs::read(folder.join(SUMMARY)).ok()?;
    serde_json::from_slice(&bytes).ok().filter(ListedRun::is_readable)
}

/// The figures of the run, if there is a summary and this version can read it.
pub(super) fn figures(folder: &Path) -> Option<RunFigures> {
    let bytes = fs::read(folder.join(SUMMARY)).ok()?;
    match serde_json::from_slice::<RunSummary>(&bytes) {
        Ok(summary) => summary.is_readable().then(|| RunFigures::from(&summary)),
        // Of an earlier version some figures may not be readable, and the rest is.
        Err(_) => read(folder).map(RunFigures::from),
    }
}

/// The whole summary, if there is one, and this version can read it.
pub(super) fn read_whole(folder: &Path) -> Option<RunSummary> {
    let bytes = fs::read(folder.join(SUMMARY)).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|summary: &RunSummary| summary.is_readable() && summary.tells_passes())
}

/// How many lines the journal had when the run ended.
pub(super) fn journal_lines(folder: &Path) -> Option<usize> {
    let bytes = fs::read(folder.join(SUMMARY)).ok()?;
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Lines {
        journal_lines: usize,
    }
    serde_json::from_slice(&bytes).ok().map(|lines: Lines| lines.journal_lines)
}

/// Deletes it, if there is one.
pub(super) fn delete(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(SUMMARY)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes it: to a file beside it first, synced, then renamed.
///
/// # Errors
/// [`StoreError::Io`].
pub(super) fn write(folder: &Path, name: &str, summary: &RunSummary, journal_lines: usize) -> Result<(), StoreError> {
    let (path, beside) = (folder.join(name), folder.join(format!("{name}.partial")));
    let write = || -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(&Summary { summary, journal_lines })?;
        json.push(b'\n');
        // One that is left over from a kill keeps its own mode.
        let _ = fs::remove_file(&beside);
        let mut file = private::options().write(true).create_new(true).open(&beside)?;
        file.write_all(&json)?;
        file.sync_data()?;
        fs::rename(&beside, &path)
    };
    write().map_err(|source| StoreError::Io { doing: "could not write", path: path.clone(), source })
}
