//! The store of a team: runs in a PostgreSQL, `--store postgres://…`, beside the folders in which they were run.
//!
//! In: the folders of runs that have ended, and the names of baselines. Out: runs as a list shows them, their figures, and whole
//! folders, fetched into the runs folder of a user who names one.
//!
//! Invariants: a run is written to its folder first, and is sent when it has ended, whole or not at all; a database that is away
//! loses nothing, since what could not be sent is marked in its folder ([`Unsent`]) and sent with the next run; a journal never
//! takes the place of a longer one; nothing that comes from the database is a path; every wait is bounded; no error has the
//! password in it.

mod error;
mod unsent;

#[cfg(feature = "postgres")]
mod address;
#[cfg(feature = "postgres")]
mod client;
#[cfg(feature = "postgres")]
mod fetch;
#[cfg(feature = "postgres")]
mod files;
#[cfg(feature = "postgres")]
mod schema;
#[cfg(feature = "postgres")]
mod send;
#[cfg(feature = "postgres")]
mod team;
#[cfg(feature = "postgres")]
mod tls;

#[cfg(not(feature = "postgres"))]
#[path = "absent.rs"]
mod team;

pub use error::TeamError;
pub use team::TeamStore;
pub use unsent::Unsent;

use chrono::{DateTime, Utc};

/// The result of sending a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is in the store.
    Now,
    /// It was there already, as it is here or longer.
    Before,
}

/// A baseline of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamBaseline {
    /// Its name.
    pub name: String,
    /// The id of its run.
    pub run: String,
    /// When it became the baseline.
    pub set_at: DateTime<Utc>,
}
