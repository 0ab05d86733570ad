//! Why the store of a team can't be used.

use std::io;
use std::path::PathBuf;

use crate::store::folder::StoreError;

/// Why the store of a team can't be used. `server` is its address without login.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// Its address is none.
    #[error("--store is no address of a PostgreSQL: {0}")]
    Address(String),
    /// This eval-job has no PostgreSQL in it.
    #[error("--store: this eval-job was built without PostgreSQL")]
    NotBuilt,
    /// It can't be reached, or the connection broke.
    #[error("the team's store, {server}, can't be reached: {why}")]
    Away {
        /// Where it is.
        server: String,
        /// Why.
        why: String,
    },
    /// It takes neither user nor password, or has no such database.
    #[error("the team's store, {server}, refuses: {why}")]
    Refused {
        /// Where it is.
        server: String,
        /// Why.
        why: String,
    },
    /// A newer eval-job has changed its tables.
    #[error("the team's store, {0}, is of a newer eval-job")]
    Newer(String),
    /// It could not do what it was asked for.
    #[error("the team's store, {server}, failed: {why}")]
    Failed {
        /// Where it is.
        server: String,
        /// Why.
        why: String,
    },
    /// A file of a run can't be read or written.
    #[error("{doing} {path}: {source}", path = .path.display())]
    Io {
        /// The operation that failed: `could not write`.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A run of this machine can't be read.
    #[error("{0}")]
    Run(StoreError),
    /// Several runs fit.
    #[error("several runs fit `{id}`: {names}", names = .names.join(", "))]
    Ambiguous {
        /// The id that was asked for.
        id: String,
        /// The folders that fit.
        names: Vec<String>,
    },
}

impl TeamError {
    /// Whether only the database is at fault, so that whatever is here can be used without it.
    pub fn is_of_server(&self) -> bool {
        matches!(
            self,
            TeamError::Away { .. } | TeamError::Refused { .. } | TeamError::Newer(_) | TeamError::Failed { .. }
        )
    }
}
