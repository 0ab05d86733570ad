//! Sending the folder of a run.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use chrono::SecondsFormat;
use serde_json::Value;
use tokio_postgres::types::ToSql;

use super::client::Connected;
use super::files::is_of_run;
use super::{Sent, TeamError};
use crate::record::RunFigures;
use crate::store::folder::{JOURNAL, RunsFolder};

/// Bytes per row of a stored file.
const CHUNK_BYTES: u64 = 1 << 20;

/// A run as its row has it.
const RUN: &str =
    "INSERT INTO eval_job_runs (folder, id, job, job_file, started_at, finished_at, verdict, provenance_digest,
    journal_bytes, listed, figures) VALUES ($1, $2, $3, $4, $5::text::timestamptz, $6::text::timestamptz, $7, $8, $9,
    $10::text::json, $11::text::json)
    ON CONFLICT (folder) DO UPDATE SET id = excluded.id, job = excluded.job, job_file = excluded.job_file,
    started_at = excluded.started_at, finished_at = excluded.finished_at, verdict = excluded.verdict,
    provenance_digest = excluded.provenance_digest, journal_bytes = excluded.journal_bytes, listed = excluded.listed,
    figures = excluded.figures, sent_at = now()";

/// How long the journal of a run is there, and all of its files.
const THERE: &str =
    "SELECT journal_bytes, (SELECT sum(length(bytes)) FROM eval_job_files f WHERE f.folder = r.folder)::bigint
    FROM eval_job_runs r WHERE folder = $1 FOR UPDATE";

/// Sends a run, with all files that go with it, in one transaction.
pub(super) async fn run(store: &Connected, folder: &Path) -> Result<Sent, TeamError> {
    let (Some(runs), Some(name)) = (folder.parent(), folder.file_name().and_then(|name| name.to_str())) else {
        return Err(store.failed("a folder without a name"));
    };
    let figures = RunsFolder::at(runs).figures_of(name).map_err(TeamError::Run)?;
    store.bounded(store.client.batch_execute("BEGIN")).await?;
    let sent = within(store, folder, name, &figures).await;
    match &sent {
        Ok(_) => store.bounded(store.client.batch_execute("COMMIT")).await?,
        // After an error of the server the connection is given up.
        Err(error) if !error.is_of_server() => store.bounded(store.client.batch_execute("ROLLBACK")).await?,
        Err(_) => {}
    }
    sent
}

/// Sends it within a transaction.
async fn within(store: &Connected, folder: &Path, name: &str, figures: &RunFigures) -> Result<Sent, TeamError> {
    let files = files(folder)?;
    let journal = bytes(folder, JOURNAL)?;
    let all = files.iter().map(|file| bytes(folder, file)).sum::<Result<i64, TeamError>>()?;
    if let Some(row) = store.bounded(store.client.query_opt(THERE, &[&name])).await? {
        let (known, of_all): (i64, Option<i64>) = (row.get(0), row.get(1));
        if known > journal || (known == journal && of_all.unwrap_or_default() >= all) {
            return Ok(Sent::Before);
        }
    }
    insert(store, name, journal, figures).await?;
    store.bounded(store.client.execute("DELETE FROM eval_job_files WHERE folder = $1", &[&name])).await?;
    for file in &files {
        send_file(store, folder, name, file).await?;
    }
    Ok(Sent::Now)
}

async fn insert(store: &Connected, name: &str, journal: i64, figures: &RunFigures) -> Result<(), TeamError> {
    let json = |value: serde_json::Result<String>| value.map_err(|error| store.failed(error));
    let run = &figures.run;
    let (listed, all) = (json(serde_json::to_string(run))?, json(serde_json::to_string(figures))?);
    let started = run.started_at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let finished = run.finished_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Micros, true));
    let verdict = serde_json::to_value(run.verdict).ok();
    let verdict = verdict.as_ref().and_then(Value::as_str).unwrap_or_default();
    let (job, file) = (text(&run.provenance.job), text(&run.provenance.job_file));
    let digest = &figures.provenance_digest;
    let values: [&(dyn ToSql + Sync); 11] =
        [&name, &run.id, &job, &file, &started, &finished, &verdict, digest, &journal, &listed, &all];
    store.bounded(store.client.execute(RUN, &values)).await.map(drop)
}

/// A text without the one character that no PostgreSQL takes.
fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

async fn send_file(store: &Connected, folder: &Path, name: &str, file: &str) -> Result<(), TeamError> {
    let unreadable = |source: io::Error| unreadable(folder, file, source);
    let mut reader = File::open(folder.join(file)).map_err(unreadable)?;
    let insert = "INSERT INTO eval_job_files (folder, name, place, bytes) VALUES ($1, $2, $3, $4)";
    let insert = store.bounded(store.client.prepare(insert)).await?;
    for place in 0_i32.. {
        let mut piece = Vec::new();
        let read = (&mut reader).take(CHUNK_BYTES).read_to_end(&mut piece).map_err(unreadable)?;
        if read == 0 && place > 0 {
            break;
        }
        store.bounded(store.client.execute(&insert, &[&name, &file, &place, &piece])).await?;
    }
    Ok(())
}

/// The files that go with a run.
fn files(folder: &Path) -> Result<Vec<String>, TeamError> {
    let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, "", source))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_of_run(name)).collect();
    names.sort();
    Ok(names)
}

fn bytes(folder: &Path, file: &str) -> Result<i64, TeamError> {
    let metadata = fs::metadata(folder.join(file)).map_err(|source| unreadable(folder, file, source))?;
    Ok(metadata.len() as i64)
}

fn unreadable(folder: &Path, file: &str, source: io::Error) -> TeamError {
    TeamError::Io { doing: "could not read", path: folder.join(file), source }
}
