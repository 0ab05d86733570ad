//! `summary.json` beside a journal: the run's summary, for whoever lists runs.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{JOURNAL, StoreError, private};
use crate::record::{FORMAT_VERSION, ListedRun, Provenance, RunFigures, RunSummary};

/// Its name in a run's folder.
pub(in crate::store) const SUMMARY: &str = "summary.json";

/// The file's content.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryFile<S> {
    #[serde(flatten)]
    summary: S,
    /// How many lines the journal had.
    journal_lines: usize,
    /// How many bytes they were.
    journal_bytes: Option<u64>,
}

/// The journal as it was when its summary was written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Summarised {
    journal_lines: Option<usize>,
    /// `None` in a summary of an earlier version.
    journal_bytes: Option<u64>,
}

/// The run as a list shows it, if there is a summary of the journal as it is, and this version can read it. Thousands are
/// read at once: nothing else of them is looked at.
pub(super) fn read(folder: &Path) -> Option<ListedRun> {
    current(folder)?.ok().filter(ListedRun::is_readable)
}

/// A summary of more bytes is parsed as it is read, and not held.
const AT_ONCE: u64 = 1 << 20;

/// A part of the summary, unless it is of another journal than the one that is there: that one was cut or altered since.
fn current<T: DeserializeOwned>(folder: &Path) -> Option<serde_json::Result<T>> {
    let mut file = File::open(folder.join(SUMMARY)).ok()?;
    let is_long = file.metadata().is_ok_and(|file| file.len() > AT_ONCE);
    let is_current = |summarised: Summarised| {
        let is_same = |length| journal_length(folder).is_none_or(|now| now == length);
        summarised.journal_bytes.is_none_or(is_same)
    };
    if is_long {
        let summarised = serde_json::from_reader(BufReader::new(&file)).unwrap_or_default();
        file.rewind().ok()?;
        return is_current(summarised).then(|| serde_json::from_reader(BufReader::new(&file)));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let summarised = serde_json::from_slice(&bytes).unwrap_or_default();
    is_current(summarised).then(|| serde_json::from_slice(&bytes))
}

/// The run's provenance, if there is a summary and this version can read it. Of the rest of it nothing is held.
pub(super) fn provenance(folder: &Path) -> Option<Provenance> {
    #[derive(Deserialize)]
    struct Provided {
        version: u32,
        provenance: Provenance,
    }
    let Provided { version, provenance } = current(folder)?.ok()?;
    (version <= FORMAT_VERSION).then_some(provenance)
}

fn journal_length(folder: &Path) -> Option<u64> {
    fs::metadata(folder.join(JOURNAL)).ok().map(|file| file.len())
}

/// The figures of the run, if there is a summary and this version can read it.
pub(super) fn figures(folder: &Path) -> Option<RunFigures> {
    match current::<RunSummary>(folder)? {
        Ok(summary) => summary.is_readable().then(|| RunFigures::from(&summary)),
        // Of an earlier version some figures may not be readable, and the rest is.
        Err(_) => read(folder).map(RunFigures::from),
    }
}

/// The whole summary, if there is one, and this version can read it.
pub(super) fn read_whole(folder: &Path) -> Option<RunSummary> {
    let is_whole = |summary: &RunSummary| summary.is_readable() && summary.tells_passes();
    current(folder)?.ok().filter(is_whole)
}

/// How many lines the journal had when the run ended.
pub(super) fn journal_lines(folder: &Path) -> Option<usize> {
    let file = BufReader::new(File::open(folder.join(SUMMARY)).ok()?);
    serde_json::from_reader::<_, Summarised>(file).ok()?.journal_lines
}

/// How many bytes of a summary tell when its run began: that is its third field.
const HEAD: u64 = 512;

/// When the run began. Thousands are asked for at once: no more is read.
pub(super) fn started_at(folder: &Path) -> Option<DateTime<Utc>> {
    let mut head = Vec::with_capacity(HEAD as usize);
    File::open(folder.join(SUMMARY)).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, began) = head.split_once("\"startedAt\": \"")?;
    began.split_once('"')?.0.parse().ok()
}

/// Deletes it, if there is one.
pub(super) fn delete(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(SUMMARY)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The ending of a file that is being written.
const PARTIAL: &str = ".partial";
/// How much older than the newest such a file is when nobody writes it any more.
const ABANDONED: Duration = Duration::from_secs(60);
/// How many this process has written.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// The path of a file that only this call writes: a list of runs may write the same summary at the same time.
fn own_file(path: &Path) -> PathBuf {
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut own = path.as_os_str().to_owned();
    own.push(format!(".{}-{number}{PARTIAL}", std::process::id()));
    PathBuf::from(own)
}

/// Deletes what writers that were killed have left beside this file.
fn delete_abandoned(folder: &Path, name: &str, own: &File) {
    let written = |file: &fs::Metadata| file.modified().ok();
    let Some(now) = own.metadata().ok().as_ref().and_then(written) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        let is_partial = file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(PARTIAL));
        let age = || now.duration_since(written(&entry.metadata().ok()?)?).ok();
        if is_partial && age().is_some_and(|age| age > ABANDONED) {
            // Nothing is lost with it, and nobody can do anything about it.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Writes it: to a file beside it first, synced, then renamed.
///
/// # Errors
/// [`StoreError::Io`].
pub(super) fn write(folder: &Path, name: &str, summary: &RunSummary, journal_lines: usize) -> Result<(), StoreError> {
    let path = folder.join(name);
    // What each task made of its repetitions is in the journal; lists of many runs read this file.
    let summary = &summary.without_repeated();
    let unwritten = |source| StoreError::Io { doing: "could not write", path: path.clone(), source };
    let (beside, mut file) = loop {
        // In containers that share a disk, processes have the same numbers.
        let own = own_file(&path);
        match private::options().write(true).create_new(true).open(&own) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => break (own, opened.map_err(unwritten)?),
        }
    };
    let mut write = || -> io::Result<()> {
        let mut json = BufWriter::new(&mut file);
        let content = SummaryFile { summary, journal_lines, journal_bytes: journal_length(folder) };
        serde_json::to_writer_pretty(&mut json, &content)?;
        json.write_all(b"\n")?;
        json.flush()?;
        drop(json);
        file.sync_data()?;
        delete_abandoned(folder, name, &file);
        fs::rename(&beside, &path)
    };
    write().map_err(|source| {
        drop(fs::remove_file(&beside));
        unwritten(source)
    })
}
