//! The store of a team where this eval-job was built without PostgreSQL: there is none.

use std::path::{Path, PathBuf};

use super::{Sent, TeamBaseline, TeamError};
use crate::record::{ListedRun, RunFigures};
use crate::store::folder::{Baseline, BaselineName, RunsFolder};

/// No store: none can be made.
#[derive(Debug)]
pub enum TeamStore {}

impl TeamStore {
    /// Never one.
    ///
    /// # Errors
    /// Always [`TeamError::NotBuilt`].
    pub fn new(_url: &str) -> Result<TeamStore, TeamError> {
        Err(TeamError::NotBuilt)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn send(
        &self,
        _runs: &[PathBuf],
        _each: impl FnMut(&Path, Result<Sent, TeamError>) + Send,
    ) -> Result<(), TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn listed(&self, _each: impl FnMut(String, ListedRun) + Send) -> Result<(), TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn figures(&self, _job: &str, _each: impl FnMut(String, RunFigures) + Send) -> Result<(), TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn fetch(&self, _id: Option<&str>, _runs: &RunsFolder) -> Result<Option<PathBuf>, TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn baselines(&self) -> Result<Vec<TeamBaseline>, TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn set_baseline(&self, _name: &BaselineName, _baseline: &Baseline) -> Result<(), TeamError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn remove_baseline(&self, _name: &BaselineName) -> Result<bool, TeamError> {
        match *self {}
    }
}
