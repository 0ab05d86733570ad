//! Errors of recording and replay.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::VERSION;
use super::line::Party;
use crate::evidence::TrialId;

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
            CassetteError::Io { source, .. }
                if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                "free some space there"
            }
            CassetteError::Io { .. } => "check that the folder is there and yours to use",
            CassetteError::Damaged { .. } => "restore the file, or record again with --cassette-record",
            CassetteError::TooNew { .. } => "the eval-job that recorded it, or record again with --cassette-record",
        }
    }
}

/// The remedy where the job or its flags are not those of the recording.
const OTHER_JOB: &str = "try the job and the flags of the recording, or record again with --cassette-record";

/// A trial, or a request of a trial, without a recording. Each message says what to try.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UnrecordedError {
    /// The trial has no file.
    #[error(
        "the conversation {trial} is not recorded: there is no file {}; try the flags of the recording, or record again with \
         --cassette-record",
        path.display()
    )]
    NoFile {
        /// The trial.
        trial: TrialId,
        /// The missing file.
        path: PathBuf,
    },
    /// The trial's file is damaged, or can't be read.
    #[error("{error}; try: {}", error.help())]
    Unreadable {
        /// Why.
        error: Arc<CassetteError>,
    },
    /// A request is made more often than it is recorded.
    #[error("a request to {with} is recorded {} in {}, and made once more; {OTHER_JOB}", times(*count), path.display())]
    Exhausted {
        /// The receiver of the request.
        with: Party,
        /// How often it is recorded.
        count: usize,
        /// The trial's file.
        path: PathBuf,
    },
    /// Only other requests to this party are recorded.
    #[error(
        "this request to {with} is not recorded; the nearest one, {}:{line}, differs first in {difference}; {OTHER_JOB}",
        path.display()
    )]
    Different {
        /// The receiver of the request.
        with: Party,
        /// The trial's file.
        path: PathBuf,
        /// The line of the nearest recorded request, from 1.
        line: usize,
        /// The first difference.
        difference: String,
    },
    /// No request to this party is recorded.
    #[error("no request to {with} is recorded in {}, and one is made; {OTHER_JOB}", path.display())]
    None {
        /// The receiver of the request.
        with: Party,
        /// The trial's file.
        path: PathBuf,
    },
}

impl From<CassetteError> for UnrecordedError {
    fn from(error: CassetteError) -> UnrecordedError {
        UnrecordedError::Unreadable { error: Arc::new(error) }
    }
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
