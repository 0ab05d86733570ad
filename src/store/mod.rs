//! Where runs are kept: one folder a kind of store.
//!
//! `folder` is the truth, `sqlite` its index, `postgres` where a team shares what is held on its machines.
//!
//! A run comes in entry by entry and goes out as a summary, or trial by trial, so that memory never holds all conversations.

pub mod folder;
pub mod postgres;
pub mod sqlite;

use chrono::{DateTime, Utc};

use crate::record::{ListedRun, Overview, TrialRecord};

pub use folder::StoreError;

/// A place where runs are kept.
pub trait Store {
    /// A run to which entries can be appended.
    type NewRun;
    /// A run that can be read.
    type Run: StoredRun;

    /// Starts a run.
    ///
    /// # Errors
    /// Whatever keeps it from being stored.
    fn create(&self, job: &str, at: DateTime<Utc>, rng: &mut fastrand::Rng) -> Result<Self::NewRun, StoreError>;

    /// The runs, oldest first; an error in place of one that can't be read.
    ///
    /// # Errors
    /// There are no runs, or the store can't be read.
    fn runs(&self) -> Result<impl Iterator<Item = Result<ListedRun, StoreError>>, StoreError>;

    /// The run with this id; the newest without one.
    ///
    /// # Errors
    /// When none or several fit, or when it can't be read.
    fn open(&self, id: Option<&str>) -> Result<Self::Run, StoreError>;
}

/// A run that can be read.
pub trait StoredRun {
    /// Reads it once, trial by trial in the order in which they ended; `each` is handed the trial, without its
    /// texts, and the place of its group.
    ///
    /// # Errors
    /// When it can't be read, is newer than this eval-job, or has no beginning.
    fn read(&mut self, each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError>;

    /// Its trials in the order of the plan, each read when it is asked for. [`StoredRun::read`] comes first.
    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>>;
}
