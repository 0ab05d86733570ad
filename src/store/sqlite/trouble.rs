//! Why the index of runs can't be used.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the index of runs can't be used. The folders are read in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexTrouble {
    /// A newer eval-job made it.
    #[error("the index of runs, {path}, is of a newer eval-job", path = .0.display())]
    Newer(PathBuf),
    /// It is no database, or a broken one.
    #[error("the index of runs, {path}, is damaged ({why})", path = .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another process holds it for longer than is waited for.
    #[error("the index of runs, {path}, is held by another process", path = .0.display())]
    Locked(PathBuf),
    /// It can't be written or opened: a read-only folder, a full disk.
    #[error("the index of runs, {path}, can't be written ({why})", path = .path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl IndexTrouble {
    /// SQLite's message.
    pub(super) fn new(path: &Path, error: &rusqlite::Error) -> IndexTrouble {
        let (path, why) = (path.to_path_buf(), reason(error));
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => IndexTrouble::Locked(path),
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => IndexTrouble::Unwritable { path, why },
            _ => IndexTrouble::Damaged { path, why },
        }
    }

    /// Whether another index in its place would help.
    pub fn is_rebuilt(&self) -> bool {
        matches!(self, IndexTrouble::Newer(_) | IndexTrouble::Damaged { .. })
    }
}

/// SQLite's own words, without the statement.
fn reason(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(words)) => words.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    }
}
