//! The tables of the index, and how those of earlier versions become these.

use rusqlite_migration::{M, Migrations};

/// The first version.
const V1: &str = "
CREATE TABLE runs (
    -- The name of its folder within the runs folder.
    folder TEXT NOT NULL PRIMARY KEY,
    -- The sizes and times of its files when it was read.
    stamp TEXT NOT NULL,
    id TEXT NOT NULL,
    job TEXT NOT NULL,
    -- RFC 3339, in UTC.
    started_at TEXT NOT NULL,
    -- The run as a list shows it, and its figures, as JSON.
    listed TEXT NOT NULL,
    figures TEXT NOT NULL
) STRICT;
CREATE INDEX runs_of_job ON runs (job, started_at);
";

/// The figures say how many conversations of each case pass, by which rules, and at what cost: rows without that are read again.
const V2: &str = "DELETE FROM runs;";

/// All versions: each statement makes the next one. Published versions are never edited.
pub(super) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![M::up(V1), M::up(V2)])
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_version_can_be_made() {
        super::migrations().validate().unwrap();
    }
}
