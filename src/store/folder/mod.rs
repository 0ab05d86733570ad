//! Runs as folders: `runs/20261120-214512-agent-k3f9qz/{journal.ndjson, summary.json}`, and beside them the names of some.
//!
//! Invariants: a folder is created anew and never reused by another run; the journal is only appended to, by one process at a
//! time, which holds a lock on it that vanishes with the process, and
//! synced to disk at each trial's end; nobody but the user can read any of it; `summary.json` appears whole or not at all; a
//! reader recognises a half-written last line, an altered one and a missing one.

mod baselines;
mod checksum;
mod entries;
mod error;
mod grading;
mod history;
mod journal;
mod journal_file;
mod labels;
mod line;
mod line_places;
mod long_line;
pub(in crate::store) mod private;
mod reading;
mod reopened;
mod runs;
mod summary;

pub use baselines::{Baseline, BaselineName};
pub use entries::{JournalText, read_journal};
pub use error::StoreError;
pub use grading::{Grading, NewGrading, Regraded};
pub use history::KeptRun;
pub use journal::Journal;
pub use journal_file::JournalFile;
pub use line::Damage;
pub use reopened::ReopenedRun;
pub(in crate::store) use runs::JOURNAL;
pub use runs::{NewRun, RunsFolder};
pub(in crate::store) use summary::SUMMARY;
