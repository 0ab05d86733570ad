//! A run that was held before, opened to go on with it.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::runs::JOURNAL;
use super::{Journal, JournalFile, NewRun, RunsFolder, StoreError, private, summary};

/// A run that was held before and is held by no other process. Nothing of it is changed until it is gone on with.
#[derive(Debug)]
pub struct ReopenedRun {
    /// Its folder.
    pub folder: PathBuf,
    file: Arc<File>,
}

impl RunsFolder {
    /// Opens the run in this folder to go on with it. No other process can do so until this one lets go of it, or ends.
    ///
    /// # Errors
    /// [`StoreError::InUse`], or that its journal can't be written.
    pub fn reopen(folder: &Path) -> Result<ReopenedRun, StoreError> {
        let path = folder.join(JOURNAL);
        let failed = |source| StoreError::Io { doing: "could not write", path: path.clone(), source };
        let file = private::options().read(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                let id = name.rsplit('-').next().unwrap_or_default().to_owned();
                Err(StoreError::InUse { id, path: folder.to_path_buf() })
            }
            // Where files can't be locked, nobody can tell.
            Ok(()) | Err(TryLockError::Error(_)) => {
                Ok(ReopenedRun { folder: folder.to_path_buf(), file: Arc::new(file) })
            }
        }
    }
}

impl ReopenedRun {
    /// The run as it was left.
    pub fn run(&self) -> JournalFile {
        JournalFile::new(&self.folder, self.file.clone())
    }

    /// Goes on with the journal after its last whole line; what is left of a line that was cut off is deleted, and so is the
    /// summary of a run that goes on again.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn go_on(self, id: String) -> Result<NewRun, StoreError> {
        let path = self.folder.join(JOURNAL);
        let failed = |source| StoreError::Io { doing: "could not write", path: path.clone(), source };
        let (lines, whole) = whole_lines(&self.file).map_err(failed)?;
        if self.file.metadata().map_err(failed)?.len() > whole {
            self.file.set_len(whole).map_err(failed)?;
        }
        summary::delete(&self.folder).map_err(failed)?;
        let journal = Journal::after(self.file, lines);
        Ok(NewRun { id, folder: self.folder, journal })
    }
}

/// How many whole lines there are, and their bytes.
fn whole_lines(mut file: &File) -> io::Result<(u64, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let (mut lines, mut whole, mut read) = (0, 0, 0);
    let mut journal = BufReader::with_capacity(1 << 16, file);
    loop {
        let bytes = journal.fill_buf()?;
        if bytes.is_empty() {
            return Ok((lines, whole));
        }
        if let Some(last) = memchr::memrchr(b'\n', bytes) {
            lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            whole = read + last as u64 + 1;
        }
        let length = bytes.len();
        read += length as u64;
        journal.consume(length);
    }
}
