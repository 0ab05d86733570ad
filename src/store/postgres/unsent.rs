//! Runs that could not be sent: a file in their folders says so, until they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::store::folder::{RunsFolder, private};

/// The file's name.
const UNSENT: &str = "unsent";

/// Runs of a folder that could not be sent to the store of the team.
#[derive(Debug)]
pub struct Unsent;

impl Unsent {
    /// Marks a run that has ended: it is to be sent.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn mark(run: &Path) -> io::Result<()> {
        private::options().write(true).create(true).truncate(false).open(run.join(UNSENT)).map(drop)
    }

    /// It was sent.
    pub fn unmark(run: &Path) {
        // One that stays is looked at once more, and nothing is sent twice.
        drop(fs::remove_file(run.join(UNSENT)));
    }

    /// The folders of the runs that are still to be sent, oldest first.
    pub fn find(runs: &RunsFolder) -> Vec<PathBuf> {
        let folders = runs.names().unwrap_or_default().into_iter().map(|name| runs.path().join(name));
        folders.filter(|folder| folder.join(UNSENT).exists()).collect()
    }
}
