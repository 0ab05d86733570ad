//! Many runs at once, by what `summary.json` says of each.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::runs::{JOURNAL, listed};
use super::{JournalFile, RunsFolder, StoreError, summary};
use crate::record::{ListedRun, RunSummary};
use crate::store::StoredRun;

/// Most first lines of journals are not longer.
const BUFFER: usize = 1 << 17;

/// A run by its summary; its conversations are read when they are asked for.
#[derive(Debug)]
pub struct KeptRun {
    /// Its summary.
    pub summary: RunSummary,
    folder: PathBuf,
}

impl KeptRun {
    /// The run itself.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(&self) -> Result<JournalFile, StoreError> {
        JournalFile::open(&self.folder)
    }

    /// The job that it was held with, if that was kept. Of the journal's first line nothing else is held: the list of
    /// conversations in it may be long.
    pub fn job(&self) -> Option<Value> {
        #[derive(Deserialize)]
        struct Started {
            job: Option<Value>,
        }
        let mut journal = BufReader::with_capacity(BUFFER, File::open(self.folder.join(JOURNAL)).ok()?);
        let buffered = journal.fill_buf().ok()?;
        let started = match memchr::memchr(b'\n', buffered) {
            Some(end) => serde_json::from_slice(&buffered[..end]).ok(),
            None => serde_json::Deserializer::from_reader(journal).into_iter::<Started>().next()?.ok(),
        };
        started.and_then(|started: Started| started.job)
    }
}

impl RunsFolder {
    /// The runs that are wanted, oldest first; an error in place of one that can't be read. Of the others no more is read than
    /// a list shows.
    ///
    /// # Errors
    /// [`StoreError::NoRuns`], or that the folder can't be read.
    pub fn history(
        &self,
        mut is_wanted: impl FnMut(&ListedRun) -> bool,
    ) -> Result<impl Iterator<Item = Result<KeptRun, StoreError>>, StoreError> {
        let folders = self.names()?.into_iter().map(|name| self.path().join(name));
        Ok(folders.filter_map(move |folder| match listed(&folder) {
            Ok(run) if !is_wanted(&run) => None,
            Ok(_) => Some(summary_of(&folder).map(|summary| KeptRun { summary, folder })),
            Err(error) => Some(Err(error)),
        }))
    }
}

/// The summary of the run in this folder; the run is read where it has none that says all.
fn summary_of(folder: &Path) -> Result<RunSummary, StoreError> {
    match summary::read_whole(folder) {
        Some(summary) => Ok(summary),
        None => Ok(JournalFile::open(folder)?.read(|_, _| ())?.summary),
    }
}
