//! The index made again from the folders.

use std::fs;
use std::io;
use std::path::Path;

use super::run_index::INDEX;
use super::{IndexTrouble, IndexedRuns, RunIndex};
use crate::record::RunFigures;
use crate::store::folder::{RunsFolder, StoreError};

/// The endings of a database's file, and of those that SQLite keeps beside it.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

impl IndexedRuns {
    /// Makes the index of this folder again: `each` learns of every run whether it could be read. An index that is damaged, or of a
    /// newer version, is deleted; one that is sound is emptied and filled, so that others can use it meanwhile.
    ///
    /// # Errors
    /// There are no runs, the folder can't be read, or the index can't be written ([`StoreError::Index`]).
    pub fn rebuild(
        folder: RunsFolder,
        mut each: impl FnMut(Result<&RunFigures, &StoreError>),
    ) -> Result<(), StoreError> {
        folder.names()?;
        let mut index = match RunIndex::open(folder.path()) {
            Err(trouble) if trouble.is_rebuilt() => replaced(folder.path())?,
            index => index.map_err(StoreError::Index)?,
        };
        match index.clear() {
            Err(trouble) if trouble.is_rebuilt() => {
                drop(index);
                drop(replaced(folder.path())?);
            }
            cleared => cleared.map_err(StoreError::Index)?,
        }
        let runs = IndexedRuns::new(folder);
        for run in runs.figures()? {
            each(run.as_ref());
        }
        runs.take_trouble().map_or(Ok(()), |trouble| Err(StoreError::Index(trouble)))
    }
}

/// An empty index in place of one that can't be used.
fn replaced(runs: &Path) -> Result<RunIndex, StoreError> {
    let path = runs.join(INDEX);
    for ending in FILES {
        match fs::remove_file(runs.join(format!("{INDEX}{ending}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::Index(IndexTrouble::Unwritable { path, why: error.to_string() }));
            }
            _ => {}
        }
    }
    RunIndex::open(runs).map_err(StoreError::Index)
}
