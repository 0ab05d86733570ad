//! Runs as folders: `runs/20261120-214512-agent-k3f9qz/{journal.ndjson, run.json}`.
//!
//! Invariants: a folder is created anew and never reused; the journal is only appended to, one `write(2)` an entry, and
//! synced to disk at each trial's end; nobody but the user can read any of it; `run.json` appears whole or not at all; a reader recognises a half-written last
//! line.

mod journal;
mod private;
mod runs;

pub use journal::{Journal, JournalText, read_journal};
pub use runs::{Found, NewRun, RunFolder, RunsFolder, StoreError};
