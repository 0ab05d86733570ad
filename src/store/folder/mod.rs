//! Runs as folders: `runs/20261120-214512-agent-k3f9qz/{journal.ndjson, run.json}`.
//!
//! Invariants: a folder is created anew and never reused; the journal is only appended to, by one writer at a time, and
//! synced to disk at each trial's end; nobody but the user can read any of it; `run.json` appears whole or not at all; a
//! reader recognises a half-written last line, an altered one and a missing one.

mod checksum;
mod entries;
mod journal;
mod line;
mod private;
mod runs;

pub use entries::{JournalText, read_journal};
pub use journal::Journal;
pub use runs::{Found, NewRun, RunFolder, RunsFolder, StoreError};
