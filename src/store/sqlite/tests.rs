//! The index beside the folders: always the same runs, whatever has become of either.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::run_index::INDEX;
use super::{IndexTrouble, IndexedRuns, MANY, RunIndex};
use crate::record::{ListedRun, RunFigures};
use crate::store::Store;
use crate::store::folder::{RunsFolder, StoreError};

/// The summary of a run of which the score is known.
fn summary(id: &str, score: f64) -> String {
    format!(
        r#"{{"version": 2, "id": "{id}", "startedAt": "2026-11-20T21:45:12Z", "finishedAt": "2026-11-20T21:46:12Z",
            "interrupted": false, "provenance": {{"job": "Desk", "models": ["m"]}}, "verdict": "passed", "journalLines": 1,
            "figures": [{{"model": "m", "figure": {{"kind": "scored", "score": {score}, "why": ""}}, "cases": [{{"case": "a",
            "figure": {{"kind": "scored", "score": {score}, "why": ""}}, "conditions": [{{"condition": "withFacts", "n": 2,
            "missing": 1, "figure": {{"kind": "scored", "score": {score}, "why": ""}}}}]}}]}}]}}"#
    )
}

fn add(runs: &Path, number: usize, score: f64) -> String {
    let name = format!("20261120-2145{:02}-desk-run{number:03}", number % 60);
    let folder = runs.join(&name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("journal.ndjson"), "{}\n").unwrap();
    fs::write(folder.join("summary.json"), summary(&format!("run{number:03}"), score)).unwrap();
    name
}

/// A folder of so many runs.
fn folder(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..count {
        add(dir.path(), number, number as f64 / 100.0);
    }
    dir
}

fn runs(dir: &Path) -> IndexedRuns {
    IndexedRuns::new(RunsFolder::at(dir))
}

/// The runs by their index are those of the folders; the trouble that the index made.
fn beside_the_folders(dir: &Path) -> Option<IndexTrouble> {
    let indexed = runs(dir);
    let listed: Vec<ListedRun> = indexed.runs().unwrap().map(Result::unwrap).collect();
    let of_folders: Vec<ListedRun> = RunsFolder::at(dir).runs().unwrap().map(Result::unwrap).collect();
    assert_eq!(listed, of_folders);
    let figures: Vec<RunFigures> = indexed.figures().unwrap().map(Result::unwrap).collect();
    assert_eq!(figures.iter().map(|it| it.run.clone()).collect::<Vec<_>>(), of_folders);
    assert!(figures.iter().all(|it| it.models[0].cells[0].n == 2 && it.models[0].cells[0].missing == 1));
    indexed.take_trouble()
}

/// How many rows the index has.
fn rows(dir: &Path) -> usize {
    let index = Connection::open(dir.join(INDEX)).unwrap();
    index.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap()
}

/// Makes another score of every run in the index alone: whoever reads the index reads it.
fn mark(dir: &Path) {
    let index = Connection::open(dir.join(INDEX)).unwrap();
    index.execute("UPDATE runs SET listed = replace(listed, '\"passed\"', '\"gateFailed\"')", []).unwrap();
}

fn marked(dir: &Path) -> Vec<String> {
    let listed = runs(dir).runs().unwrap().map(Result::unwrap).collect::<Vec<ListedRun>>();
    listed.into_iter().filter(|run| run.verdict == crate::record::Verdict::GateFailed).map(|run| run.id).collect()
}

#[test]
fn few_runs_are_read_from_their_folders_and_many_by_their_index() {
    let dir = folder(MANY - 1);
    assert_eq!(beside_the_folders(dir.path()), None);
    runs(dir.path()).add(&add(dir.path(), 0, 0.5));
    assert!(!RunIndex::is_in(dir.path()));
    runs(dir.path()).add(&add(dir.path(), MANY, 0.5));
    assert_eq!((RunIndex::is_in(dir.path()), rows(dir.path())), (true, 1), "the run that ended is indexed");
    assert_eq!(beside_the_folders(dir.path()), None);
    assert_eq!(rows(dir.path()), MANY);
    mark(dir.path());
    assert_eq!(marked(dir.path()).len(), MANY, "no folder was read");
}

#[test]
fn what_is_copied_changed_or_deleted_behind_its_back_is_shown_as_it_is() {
    let dir = folder(MANY + 3);
    assert_eq!(beside_the_folders(dir.path()), None);
    mark(dir.path());
    add(dir.path(), 1, 0.123_456);
    fs::write(dir.path().join(add(dir.path(), 2, 0.02)).join("journal.ndjson"), "{}\n{}\n").unwrap();
    add(dir.path(), 900, 0.9);
    let gone = RunsFolder::at(dir.path()).names().unwrap()[5].clone();
    fs::remove_dir_all(dir.path().join(&gone)).unwrap();
    let shown = marked(dir.path());
    assert_eq!(shown.len(), MANY, "{shown:?}");
    assert!(["run001", "run002", "run900"].iter().all(|id| !shown.iter().any(|it| it == id)), "{shown:?}");
    assert_eq!(rows(dir.path()), MANY + 3);
    assert!(!shown.iter().any(|id| gone.ends_with(id)), "{shown:?}");
}

#[test]
fn a_row_that_cant_be_read_is_made_again() {
    let dir = folder(MANY);
    beside_the_folders(dir.path());
    Connection::open(dir.path().join(INDEX))
        .unwrap()
        .execute("UPDATE runs SET listed = '{', figures = ''", [])
        .unwrap();
    assert_eq!(beside_the_folders(dir.path()), None);
    mark(dir.path());
    assert_eq!(marked(dir.path()).len(), MANY);
}

/// Rebuilds the index; how many runs it has then.
fn rebuilt(dir: &Path) -> Result<usize, StoreError> {
    let mut count = 0;
    IndexedRuns::rebuild(RunsFolder::at(dir), |run| count += usize::from(run.is_ok())).map(|()| count)
}

#[test]
fn an_index_that_is_damaged_deleted_or_newer_is_reported_and_made_again() {
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil, Option<&str>); 6] = [
        ("deleted", |file| fs::remove_file(file).unwrap(), None),
        ("no database", |file| fs::write(file, "this is no database").unwrap(), Some("is damaged (")),
        ("empty", |file| fs::write(file, "").unwrap(), None),
        (
            "overwritten",
            |file| {
                let mut bytes = fs::read(file).unwrap();
                bytes[1000..].fill(0x5A);
                fs::write(file, bytes).unwrap();
            },
            Some("is damaged ("),
        ),
        (
            "newer",
            |file| Connection::open(file).unwrap().pragma_update(None, "user_version", 99).unwrap(),
            Some("is of a newer eval-job"),
        ),
        (
            "without tables",
            |file| Connection::open(file).unwrap().execute_batch("DROP TABLE runs").unwrap(),
            Some("is damaged (no such table"),
        ),
    ];
    for (what, spoil, expected) in spoils {
        let dir = folder(MANY);
        assert_eq!(beside_the_folders(dir.path()), None);
        spoil(&dir.path().join(INDEX));
        let trouble = beside_the_folders(dir.path()).map(|trouble| trouble.to_string());
        assert_eq!(trouble.is_some(), expected.is_some(), "{what}: {trouble:?}");
        assert!(trouble.unwrap_or_default().contains(expected.unwrap_or_default()), "{what}");
        assert_eq!(rebuilt(dir.path()).unwrap(), MANY, "{what}");
        assert_eq!((beside_the_folders(dir.path()), rows(dir.path())), (None, MANY), "{what}");
    }
}

#[test]
fn an_index_that_cant_be_written_is_reported_and_one_that_is_read_only_is_read() {
    let dir = folder(MANY);
    fs::create_dir(dir.path().join(INDEX)).unwrap();
    let trouble = beside_the_folders(dir.path()).unwrap();
    assert!(matches!(trouble, IndexTrouble::Unwritable { .. }), "{trouble}");
    assert!(matches!(rebuilt(dir.path()), Err(StoreError::Index(IndexTrouble::Unwritable { .. }))));
    fs::remove_dir(dir.path().join(INDEX)).unwrap();
    beside_the_folders(dir.path());
    let file = dir.path().join(INDEX);
    let read_only = super::run_index::connect_to_read(&file).unwrap();
    let count: usize = read_only.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(count, MANY);
    let error = read_only.execute("DELETE FROM runs", []).unwrap_err();
    assert!(matches!(IndexTrouble::new(&file, &error), IndexTrouble::Unwritable { .. }), "{error}");
}

#[test]
fn a_full_disk_is_reported_as_one() {
    let dir = folder(MANY);
    drop(RunIndex::open(dir.path()).unwrap());
    let index = Connection::open(dir.path().join(INDEX)).unwrap();
    index.pragma_update(None, "max_page_count", 4).unwrap();
    let error =
        index.execute("INSERT INTO runs VALUES ('f', '', '', '', '', hex(zeroblob(9000)), '')", []).unwrap_err();
    let trouble = IndexTrouble::new(&dir.path().join(INDEX), &error).to_string();
    assert!(trouble.ends_with("can't be written (database or disk is full)"), "{trouble}");
}

#[test]
fn an_index_that_is_locked_for_long_is_reported_as_locked() {
    let dir = folder(MANY);
    beside_the_folders(dir.path());
    let holder = Connection::open(dir.path().join(INDEX)).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(beside_the_folders(dir.path()), None, "readers do not wait for a writer");
    add(dir.path(), 500, 0.5);
    let trouble = beside_the_folders(dir.path()).unwrap();
    assert!(matches!(trouble, IndexTrouble::Locked(_)), "{trouble}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!((beside_the_folders(dir.path()), rows(dir.path())), (None, MANY + 1));
}

#[test]
fn an_index_of_the_first_version_is_read_as_it_was_made() {
    let dir = folder(MANY);
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/index/version-1.sqlite");
    fs::copy(kept, dir.path().join(INDEX)).unwrap();
    let index = Connection::open(dir.path().join(INDEX)).unwrap();
    let old: String = index.query_row("SELECT figures FROM runs", [], |row| row.get(0)).unwrap();
    let figures: RunFigures = serde_json::from_str(&old).unwrap();
    assert_eq!((figures.run.id.as_str(), figures.models[0].cells[0].mean), ("run007", Some(0.07)));
    assert_eq!((beside_the_folders(dir.path()), rows(dir.path())), (None, MANY));
}

#[cfg(unix)]
#[test]
fn the_index_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder(MANY);
    let index = RunIndex::open(dir.path()).unwrap();
    for file in fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap()) {
        if file.file_name().to_string_lossy().starts_with(INDEX) {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        }
    }
    drop(index);
}
