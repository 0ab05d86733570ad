//! The database of an index: opened, read row by row, written in short transactions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::SecondsFormat;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use rusqlite_migration::{Error as MigrationError, MigrationDefinitionError, SchemaVersion};
use serde::de::DeserializeOwned;

use super::schema::migrations;
use super::{IndexTrouble, Stamp};
use crate::record::{ListedRun, RunFigures};
use crate::store::folder::private;

/// The file's name in the runs folder.
pub(super) const INDEX: &str = "index.sqlite";

/// How long another process may hold it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The index of a runs folder, open.
#[derive(Debug)]
pub struct RunIndex {
    connection: Connection,
    path: PathBuf,
}

/// A run as it is indexed.
#[derive(Debug)]
pub(super) struct IndexedRun {
    pub(super) folder: String,
    pub(super) stamp: Stamp,
    pub(super) figures: RunFigures,
}

/// A view of a run that is read from the index, or from its figures.
pub trait Indexed: DeserializeOwned {
    /// The column that holds it.
    const COLUMN: &str;

    /// The view of a run that was read from its folder.
    fn from_figures(figures: RunFigures) -> Self;
}

impl Indexed for ListedRun {
    const COLUMN: &str = "listed";

    fn from_figures(figures: RunFigures) -> ListedRun {
        figures.run
    }
}

impl Indexed for RunFigures {
    const COLUMN: &str = "figures";

    fn from_figures(figures: RunFigures) -> RunFigures {
        figures
    }
}

impl RunIndex {
    /// Whether there is one in this runs folder.
    pub fn is_in(runs: &Path) -> bool {
        runs.join(INDEX).is_file()
    }

    /// Opens that of a runs folder; makes it where there is none, and brings that of an earlier version to this one.
    ///
    /// # Errors
    /// Why it can't be used.
    pub fn open(runs: &Path) -> Result<RunIndex, IndexTrouble> {
        let path = runs.join(INDEX);
        // SQLite gives the files beside it the mode of this one.
        if let Err(error) = private::options().write(true).create_new(true).open(&path)
            && !path.is_file()
        {
            return Err(IndexTrouble::Unwritable { path, why: error.to_string() });
        }
        let opened = connect(&path).map_err(|error| IndexTrouble::new(&path, &error))?;
        let mut index = RunIndex { connection: opened, path };
        index.migrate()?;
        Ok(index)
    }

    fn migrate(&mut self) -> Result<(), IndexTrouble> {
        let migrations = migrations();
        for is_last in [false, true] {
            match migrations.current_version(&self.connection) {
                Ok(SchemaVersion::Outside(_)) => return Err(IndexTrouble::Newer(self.path.clone())),
                Ok(_) => {}
                Err(error) => return Err(self.failed_migration(error)),
            }
            match migrations.to_latest(&mut self.connection) {
                Ok(()) => break,
                Err(error) if is_last => return Err(self.failed_migration(error)),
                // Another process may have done it at the same moment.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn failed_migration(&self, error: MigrationError) -> IndexTrouble {
        match error {
            MigrationError::RusqliteError { err, .. } => self.trouble(&err),
            MigrationError::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
                IndexTrouble::Newer(self.path.clone())
            }
            error => IndexTrouble::Damaged { path: self.path.clone(), why: error.to_string() },
        }
    }

    fn trouble(&self, error: &rusqlite::Error) -> IndexTrouble {
        IndexTrouble::new(&self.path, error)
    }

    /// The row of the run in this folder, if its stamp is this; `None` where it is not indexed, or as it was before.
    pub(super) fn read<T: Indexed>(&self, folder: &str, stamp: Stamp) -> Result<Option<T>, IndexTrouble> {
        let read = || -> rusqlite::Result<Option<String>> {
            let column = T::COLUMN;
            let sql = format!("SELECT {column} FROM runs WHERE folder = ?1 AND stamp = ?2");
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row(params![folder, stamp.to_string()], |row| row.get(0)).optional()
        };
        let json = read().map_err(|error| self.trouble(&error))?;
        // A row that can't be read is made again.
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// Writes rows in the place of those that were.
    pub(super) fn write(&mut self, runs: &[IndexedRun]) -> Result<(), IndexTrouble> {
        self.changed(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT OR REPLACE INTO runs (folder, stamp, id, job, started_at, listed, figures)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for IndexedRun { folder, stamp, figures } in runs {
                let run = &figures.run;
                let started_at = run.started_at.to_rfc3339_opts(SecondsFormat::Nanos, true);
                let (listed, json) = (json(run)?, json(figures)?);
                statement.execute(params![
                    folder,
                    stamp.to_string(),
                    run.id,
                    run.provenance.job,
                    started_at,
                    listed,
                    json
                ])?;
            }
            Ok(())
        })
    }

    /// Removes the rows of folders that are not among these, which are in order.
    pub(super) fn keep_only(&mut self, folders: &[&str]) -> Result<(), IndexTrouble> {
        let gone = || -> rusqlite::Result<Vec<String>> {
            let count: usize = self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?;
            // Each of these has a row, or could not be read.
            if count < folders.len() {
                return Ok(Vec::new());
            }
            let mut statement = self.connection.prepare("SELECT folder FROM runs")?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
            let is_gone = |name: &String| folders.binary_search(&name.as_str()).is_err();
            rows.filter(|row| row.as_ref().map_or(true, is_gone)).collect()
        };
        let gone = gone().map_err(|error| self.trouble(&error))?;
        if gone.is_empty() {
            return Ok(());
        }
        self.changed(|connection| {
            let mut statement = connection.prepare_cached("DELETE FROM runs WHERE folder = ?1")?;
            gone.iter().try_for_each(|folder| statement.execute([folder]).map(drop))
        })
    }

    /// Removes all rows, of an index that is sound.
    pub(super) fn clear(&mut self) -> Result<(), IndexTrouble> {
        let check = || self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match check().map_err(|error| self.trouble(&error))?.as_str() {
            "ok" => self.changed(|connection| connection.execute("DELETE FROM runs", []).map(drop)),
            why => Err(IndexTrouble::Damaged { path: self.path.clone(), why: why.to_owned() }),
        }
    }

    /// Changes rows in one transaction, for which it is waited.
    fn changed(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), IndexTrouble> {
        let path = self.path.clone();
        let changed = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            change(&transaction)?;
            transaction.commit()
        };
        changed().map_err(|error| IndexTrouble::new(&path, &error))
    }
}

/// The database in a file that is there.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut connection = Connection::open_with_flags(path, flags)?;
    if connection.is_readonly(rusqlite::DatabaseName::Main)? {
        return connect_to_read(path);
    }
    connection.busy_timeout(PATIENCE)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // Readers and a writer at once. A file system that can't do that keeps the mode that it can.
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode != "wal" {
        // Of several processes that make it at once only one changes the mode.
        drop(connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get::<_, String>(0)));
    }
    // After a crash of the machine the last rows may be missing: they are read from the folders then.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// The database in a file that can't be written: without the files that SQLite would need beside it. Should somebody else write
/// it, rows are read from their folders.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let encoded: String = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{encoded}?immutable=1"), flags)
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
