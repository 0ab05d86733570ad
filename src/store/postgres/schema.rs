//! The tables of a team's store, and how those of earlier versions become these.

use std::fmt;

use async_trait::async_trait;
use refinery_core::traits::r#async::{AsyncMigrate, AsyncQuery, AsyncTransaction};
use refinery_core::{Migration, Runner};
use time::OffsetDateTime;
use tokio_postgres::{Client, Error};

/// All versions: each statement makes the next one. Published versions are never edited.
const VERSIONS: [(&str, &str); 2] = [
    ("V1__runs", include_str!("migrations/V1__runs.sql")),
    ("V2__baselines", include_str!("migrations/V2__baselines.sql")),
];

/// Where the versions are kept.
const TABLE: &str = "eval_job_migrations";

/// The key of an advisory lock, so that two processes never change the tables at once.
const LOCK: i64 = 0x6576_616c_6a6f_6221;

/// Why the tables can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error("a newer eval-job has changed the tables")]
    Newer,
    #[error(transparent)]
    Database(#[from] Error),
    #[error("its tables can't be made: {0}")]
    Migration(#[from] MigrationError),
}

/// A migration that failed, with the database's reason.
#[derive(Debug)]
pub(super) struct MigrationError(refinery_core::Error);

impl std::error::Error for MigrationError {}

impl fmt::Display for MigrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::error::Error::source(&self.0) {
            Some(source) => write!(f, "{}: {source}", self.0),
            None => self.0.fmt(f),
        }
    }
}

/// Brings the tables to this version. Of those that are, nothing is changed, and no right to do so is needed.
pub(super) async fn migrate(client: &mut Client) -> Result<(), SchemaError> {
    match version(client).await? {
        Some(version) if version == VERSIONS.len() as i32 => return Ok(()),
        Some(version) if version > VERSIONS.len() as i32 => return Err(SchemaError::Newer),
        _ => {}
    }
    client.query_one("SELECT pg_advisory_lock($1)::text", &[&LOCK]).await?;
    let migrated = run(client).await;
    // It ends with the connection anyway.
    let unlocked = client.query_one("SELECT pg_advisory_unlock($1)", &[&LOCK]).await;
    migrated?;
    unlocked.map(drop).map_err(SchemaError::from)
}

/// The version of the tables; `None` where there are none.
async fn version(client: &Client) -> Result<Option<i32>, Error> {
    let is_there = client.query_one("SELECT to_regclass($1)::text", &[&TABLE]).await?;
    if is_there.get::<_, Option<String>>(0).is_none() {
        return Ok(None);
    }
    let version = client.query_one(&format!("SELECT max(version) FROM {TABLE}"), &[]).await?;
    Ok(version.get(0))
}

async fn run(client: &mut Client) -> Result<(), MigrationError> {
    let all: Result<Vec<Migration>, _> = VERSIONS.iter().map(|(name, sql)| Migration::unapplied(name, sql)).collect();
    let all = all.map_err(MigrationError)?;
    let mut runner = Runner::new(&all).set_abort_missing(true).set_abort_divergent(true);
    runner.set_migration_table_name(TABLE);
    let ran = runner.run_async(&mut Migrated(client)).await;
    ran.map(drop).map_err(MigrationError)
}

/// A connection on which the library migrates.
struct Migrated<'c>(&'c mut Client);

#[async_trait]
impl AsyncTransaction for Migrated<'_> {
    type Error = Error;

    async fn execute<'a, T: Iterator<Item = &'a str> + Send>(&mut self, queries: T) -> Result<usize, Error> {
        let transaction = self.0.transaction().await?;
        let mut count = 0;
        for query in queries {
            transaction.batch_execute(query).await?;
            count += 1;
        }
        transaction.commit().await?;
        Ok(count)
    }
}

#[async_trait]
impl AsyncQuery<Vec<Migration>> for Migrated<'_> {
    async fn query(&mut self, query: &str) -> Result<Vec<Migration>, Error> {
        let rows = self.0.query(query, &[]).await?;
        let applied = |row: &tokio_postgres::Row| {
            let checksum = row.get::<_, String>(3).parse().unwrap_or_default();
            // When it was applied decides nothing.
            Migration::applied(row.get(0), row.get(1), OffsetDateTime::UNIX_EPOCH, checksum)
        };
        Ok(rows.iter().map(applied).collect())
    }
}

impl AsyncMigrate for Migrated<'_> {}
