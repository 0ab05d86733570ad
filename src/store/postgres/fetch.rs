//! Reading what a team's store holds: rows of runs, and whole folders.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::TryStreamExt;
use serde::de::DeserializeOwned;

use super::TeamError;
use super::client::Connected;
use super::files::{is_folder, is_of_run};
use crate::store::folder::{JOURNAL, RunsFolder, private};

/// Reads a column of all runs, or of those of a job, oldest first, row by row.
pub(super) async fn rows<T: DeserializeOwned>(
    store: &Connected,
    column: &str,
    job: Option<&str>,
    mut each: impl FnMut(String, T),
) -> Result<(), TeamError> {
    let sql = format!(
        "SELECT folder, {column}::text FROM eval_job_runs WHERE $1::text IS NULL OR job = $1 ORDER BY started_at, folder"
    );
    let rows = store.bounded(store.client.query_raw(&sql, [job])).await?;
    let mut rows = pin!(rows);
    while let Some(row) = store.bounded(rows.try_next()).await? {
        let (folder, json): (String, String) = (row.get(0), row.get(1));
        // One of a newer version that this one can't read is passed over, as its folder would be.
        if let Ok(run) = serde_json::from_str(&json) {
            each(folder, run);
        }
    }
    Ok(())
}

/// Fetches a run into a runs folder.
pub(super) async fn run(store: &Connected, id: Option<&str>, runs: &RunsFolder) -> Result<Option<PathBuf>, TeamError> {
    let Some(name) = find(store, id).await? else { return Ok(None) };
    if !is_folder(&name) {
        return Err(store.failed(format!("{name:?} is no name of a run's folder")));
    }
    let target = runs.path().join(&name);
    if RunsFolder::is_run(&target) {
        return Ok(Some(target));
    }
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| TeamError::Io { doing: "could not write", path: path.clone(), source }
    };
    fs::create_dir_all(runs.path()).map_err(failed(runs.path()))?;
    // Nobody takes it for a run before it is whole.
    let beside = tempfile::Builder::new().prefix(".fetching-").tempdir_in(runs.path()).map_err(failed(runs.path()))?;
    let folder = beside.path().join(&name);
    private::folder().create(&folder).map_err(failed(&folder))?;
    fetch_files(store, &name, &folder).await?;
    // The times of their journals distinguish runs of the same second.
    if let Some(ended) = ended(store, &name).await? {
        let journal = folder.join(JOURNAL);
        let dated = File::options().append(true).open(&journal).and_then(|file| file.set_modified(ended));
        dated.map_err(failed(&journal))?;
    }
    match fs::rename(&folder, &target) {
        Err(_) if RunsFolder::is_run(&target) => Ok(Some(target)),
        Err(source) => Err(failed(&target)(source)),
        Ok(()) => Ok(Some(target)),
    }
}

/// The name of the folder of this run; `None` where there is none.
async fn find(store: &Connected, id: Option<&str>) -> Result<Option<String>, TeamError> {
    const NEWEST: &str = "SELECT folder FROM eval_job_runs ORDER BY started_at DESC, folder DESC LIMIT 1";
    const FITTING: &str = "SELECT folder FROM eval_job_runs
        WHERE right(folder, length($1) + 1) = '-' || $1 OR starts_with(folder, $1) ORDER BY folder LIMIT 20";
    let rows = match id {
        None => store.bounded(store.client.query(NEWEST, &[])).await?,
        Some(id) => store.bounded(store.client.query(FITTING, &[&id])).await?,
    };
    let mut names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    match (names.len(), id) {
        (0 | 1, _) | (_, None) => Ok(names.pop()),
        (_, Some(id)) => Err(TeamError::Ambiguous { id: id.to_owned(), names }),
    }
}

/// When a run ended, or began where it has no end.
async fn ended(store: &Connected, name: &str) -> Result<Option<SystemTime>, TeamError> {
    const ENDED: &str =
        "SELECT extract(epoch FROM coalesce(finished_at, started_at))::float8 FROM eval_job_runs WHERE folder = $1";
    let row = store.bounded(store.client.query_opt(ENDED, &[&name])).await?;
    let seconds = row.and_then(|row| Duration::try_from_secs_f64(row.get(0)).ok());
    Ok(seconds.and_then(|since| UNIX_EPOCH.checked_add(since)))
}

async fn fetch_files(store: &Connected, name: &str, folder: &Path) -> Result<(), TeamError> {
    let sql = "SELECT name, bytes FROM eval_job_files WHERE folder = $1 ORDER BY name, place";
    let rows = store.bounded(store.client.query_raw(sql, [name])).await?;
    let mut rows = pin!(rows);
    let mut open: Option<(String, File)> = None;
    while let Some(row) = store.bounded(rows.try_next()).await? {
        let (file, bytes): (String, &[u8]) = (row.get(0), row.get(1));
        if !is_of_run(&file) {
            continue;
        }
        let failed = |source: io::Error| TeamError::Io { doing: "could not write", path: folder.join(&file), source };
        let mut writer = match open.take() {
            Some((known, writer)) if known == file => writer,
            _ => private::options().write(true).create_new(true).open(folder.join(&file)).map_err(failed)?,
        };
        writer.write_all(bytes).map_err(failed)?;
        open = Some((file, writer));
    }
    match folder.join(JOURNAL).is_file() {
        true => Ok(()),
        false => Err(store.failed(format!("it has no journal of the run {name}"))),
    }
}
