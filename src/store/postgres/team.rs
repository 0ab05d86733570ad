//! The blocking interface of a team's store.

use std::future::Future;
use std::path::{Path, PathBuf};

use chrono::DateTime;

use super::address::Address;
use super::client::{Connected, connected};
use super::{Sent, TeamBaseline, TeamError, fetch, send};
use crate::record::{ListedRun, RunFigures};
use crate::store::folder::{Baseline, BaselineName, RunsFolder};

/// The store of a team. Each call makes a connection of its own.
pub struct TeamStore {
    address: Address,
}

impl TeamStore {
    /// The one at this address; nothing is asked yet.
    ///
    /// # Errors
    /// [`TeamError::Address`].
    pub fn new(url: &str) -> Result<TeamStore, TeamError> {
        Ok(TeamStore { address: Address::parse(url)? })
    }

    /// Sends the runs in these folders, one after the other, each whole or not at all; `each` gets the result of each. A run
    /// that can't be read keeps no other from being sent.
    ///
    /// # Errors
    /// The first error of the server; the remaining runs are not sent.
    pub fn send(
        &self,
        runs: &[PathBuf],
        mut each: impl FnMut(&Path, Result<Sent, TeamError>) + Send,
    ) -> Result<(), TeamError> {
        self.connected(async |store| {
            for run in runs {
                match send::run(&store, run).await {
                    Err(error) if error.is_of_server() => return Err(error),
                    sent => each(run, sent),
                }
            }
            Ok(())
        })
    }

    /// All of its runs as a list shows them, oldest first, each with the name of its folder.
    ///
    /// # Errors
    /// The errors of the server.
    pub fn listed(&self, each: impl FnMut(String, ListedRun) + Send) -> Result<(), TeamError> {
        self.connected(async |store| fetch::rows(&store, "listed", None, each).await)
    }

    /// The figures of the runs of a job, oldest first, each with the name of its folder.
    ///
    /// # Errors
    /// The errors of the server.
    pub fn figures(&self, job: &str, each: impl FnMut(String, RunFigures) + Send) -> Result<(), TeamError> {
        self.connected(async |store| fetch::rows(&store, "figures", Some(job), each).await)
    }

    /// Fetches the run of this id, or the beginning of its folder's name, into a runs folder; the newest without one. Returns
    /// its folder; `None` where there is no such run.
    ///
    /// # Errors
    /// [`TeamError::Ambiguous`], [`TeamError::Io`] or those of the server.
    pub fn fetch(&self, id: Option<&str>, runs: &RunsFolder) -> Result<Option<PathBuf>, TeamError> {
        self.connected(async |store| fetch::run(&store, id, runs).await)
    }

    /// The baselines of the team, by name.
    ///
    /// # Errors
    /// The errors of the server.
    pub fn baselines(&self) -> Result<Vec<TeamBaseline>, TeamError> {
        const ALL: &str = "SELECT name, run, extract(epoch FROM set_at)::float8 FROM eval_job_baselines ORDER BY name";
        self.connected(async |store| {
            let rows = store.bounded(store.client.query(ALL, &[])).await?;
            let baseline = |row: &tokio_postgres::Row| TeamBaseline {
                name: row.get(0),
                run: row.get(1),
                set_at: DateTime::from_timestamp_micros((row.get::<_, f64>(2) * 1e6) as i64).unwrap_or_default(),
            };
            Ok(rows.iter().map(baseline).collect())
        })
    }

    /// Makes a run the team's baseline of this name.
    ///
    /// # Errors
    /// The errors of the server.
    pub fn set_baseline(&self, name: &BaselineName, baseline: &Baseline) -> Result<(), TeamError> {
        const SET: &str = "INSERT INTO eval_job_baselines (name, run, set_at) VALUES ($1, $2, $3::text::timestamptz)
                           ON CONFLICT (name) DO UPDATE SET run = excluded.run, set_at = excluded.set_at";
        let (name, set_at) = (name.to_string(), baseline.set_at.to_rfc3339());
        self.connected(async |store| {
            store.bounded(store.client.execute(SET, &[&name, &baseline.run, &set_at])).await.map(drop)
        })
    }

    /// Removes a baseline of the team; returns whether there was one.
    ///
    /// # Errors
    /// The errors of the server.
    pub fn remove_baseline(&self, name: &BaselineName) -> Result<bool, TeamError> {
        const REMOVE: &str = "DELETE FROM eval_job_baselines WHERE name = $1";
        let name = name.to_string();
        self.connected(async |store| {
            let rows = store.bounded(store.client.execute(REMOVE, &[&name])).await?;
            Ok(rows > 0)
        })
    }

    /// Connects and runs an operation, in a thread of its own since the caller may be within a runtime.
    fn connected<T: Send, F: Future<Output = Result<T, TeamError>>>(
        &self,
        work: impl FnOnce(Connected) -> F + Send,
    ) -> Result<T, TeamError> {
        let failed = |why: &str| TeamError::Failed { server: self.address.shown.clone(), why: why.to_owned() };
        let work = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| failed(&error.to_string()))?;
            runtime.block_on(async { work(connected(&self.address).await?).await })
        };
        std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|_| Err(failed("it was given up")))
    }
}
