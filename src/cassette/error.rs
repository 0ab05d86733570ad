//! Why there is no cassette.

use std::io;
use std::path::PathBuf;

use super::VERSION;

/// A recording that can't be made or replayed.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The folder of a new recording has one in it.
    #[error("there is a recording in {} already", .0.display())]
    Exists(PathBuf),
    /// There is no recording.
    #[error("there is no recording in {}: it has no file run.jsonl", .0.display())]
    Absent(PathBuf),
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has something in it that no recording has.
    #[error("{}:{line}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        what: String,
    },
    /// A newer eval-job wrote it.
    #[error("{} is of version {version} of the format, and this eval-job reads up to version {VERSION}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

impl CassetteError {
    /// The remedy to suggest.
    pub fn help(&self) -> &'static str {
        match self {
            CassetteError::Exists(_) => {
                "another folder for --cassette-record, or delete this one: nothing is written over"
            }
            CassetteError::Absent(_) => {
                "make one with --cassette-record, of the same job with the same flags; --cassette-replay names its folder"
            }
            CassetteError::Io { .. } => "check that the folder is there and yours to use",
            CassetteError::Damaged { .. } => "restore the file, or record again with --cassette-record",
            CassetteError::TooNew { .. } => "the eval-job that recorded it, or record again with --cassette-record",
        }
    }
}
