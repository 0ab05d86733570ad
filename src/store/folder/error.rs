//! Why a run could not be stored or found.

use std::io;
use std::path::PathBuf;

use crate::store::sqlite::IndexTrouble;

/// Why a run could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{doing} {path}: {source}", path = .path.display())]
    Io {
        /// The operation that failed: `could not write`.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{id}` in {path}", path = .path.display())]
    NoSuchRun {
        /// The id that was asked for.
        id: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There are no runs at all.
    #[error("there are no runs in {path} yet", path = .path.display())]
    NoRuns {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// Several runs fit.
    #[error("several runs fit `{id}`: {names}", names = .names.join(", "))]
    Ambiguous {
        /// The id that was asked for.
        id: String,
        /// The folders that fit.
        names: Vec<String>,
    },
    /// There is no such baseline.
    #[error("there is no baseline `{name}` in {path}", path = .path.display())]
    NoSuchBaseline {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The run of a baseline is not there any more.
    #[error("run `{run}`, the baseline `{name}`, is not in {path} any more", path = .path.display())]
    BaselineDeleted {
        /// The baseline's name.
        name: String,
        /// The run's id.
        run: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Another process writes its journal.
    #[error("run {id} is in use by another process: {path}", path = .path.display())]
    InUse {
        /// Its id.
        id: String,
        /// Its folder.
        path: PathBuf,
    },
    /// The index of runs can't be made again.
    #[error("{0}")]
    Index(IndexTrouble),
    /// Another process begins it just now.
    #[error("{path}: the run begins just now", path = .0.display())]
    JustBegun(PathBuf),
    /// Nothing is left of it.
    #[error("{path}: {why}: nothing is left of the run", path = .path.display())]
    NothingLeft {
        /// Its journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It can't be read.
    #[error("{path} can't be read: {why}", path = .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}
