//! The folder of kept replies: `ab/ab34….ndjson`, a file for each.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::entry::{CacheEntry, CacheEntryError};
use crate::evidence::Usage;

const ENDING: &str = "ndjson";
const PARTIAL: &str = ".partial";
/// The age of an unfinished file after which its writer is taken for dead.
const PARTIAL_LASTS: TimeDelta = TimeDelta::hours(1);

/// A folder of kept replies, which need not exist yet.
#[derive(Debug, Clone)]
pub struct CacheFolder {
    path: PathBuf,
}

/// The kept verdicts of one model at one address.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheRow {
    /// The model, with its provider.
    pub model: String,
    /// Where it was asked, without credentials.
    pub address: String,
    /// How many of its replies are kept.
    pub replies: u64,
    /// The bytes of their files.
    pub bytes: u64,
    /// Their usage when they were given: what each use saves.
    pub usage: Usage,
    /// When the oldest was given.
    pub oldest: DateTime<Utc>,
    /// When the newest was given.
    pub newest: DateTime<Utc>,
}

/// Everything that is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CacheListing {
    /// A row for each model and address.
    pub rows: Vec<CacheRow>,
    /// Files that can't be used.
    pub damaged: Vec<PathBuf>,
}

/// Which kept replies are removed: those that every rule names. Without a rule only what can't be used is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruneRules {
    /// Entries from before this moment.
    pub before: Option<DateTime<Utc>>,
    /// Entries of this model, with its provider or without.
    pub model: Option<String>,
    /// The oldest of those, until all that stay have no more bytes than this; without it all of those.
    pub most_bytes: Option<u64>,
}

/// The removed entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many replies.
    pub replies: u64,
    /// How many files that could not be used, or were never finished.
    pub damaged: u64,
    /// The bytes of all of them.
    pub bytes: u64,
    /// How many replies stay.
    pub left: u64,
}

/// A file of the folder.
struct CacheFile {
    path: PathBuf,
    bytes: u64,
    /// `None` for one that can't be used.
    entry: Option<CacheEntry>,
}

impl CacheFolder {
    /// The cache beside the runs of this folder.
    pub fn beside(runs: &Path) -> CacheFolder {
        CacheFolder { path: runs.join("cache") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a reply.
    pub(super) fn path_of(&self, key: &str) -> PathBuf {
        self.path.join(key.get(..2).unwrap_or("00")).join(format!("{key}.{ENDING}"))
    }

    /// The reply that is kept under a key; `None` where there is none, or one of a newer version.
    pub(super) fn read(&self, key: &str) -> Result<Option<CacheEntry>, CacheEntryError> {
        match fs::read(self.path_of(key)) {
            Ok(bytes) => CacheEntry::from_text(&bytes, key),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps a reply, in place of what is there under its key. It appears whole or not at all.
    pub(super) fn write(&self, entry: &CacheEntry) -> io::Result<()> {
        let path = self.path_of(&entry.key);
        let folder = path.parent().unwrap_or(&self.path);
        make_folder(folder)?;
        // Nobody but the user can read it, as tempfile makes them.
        let mut file = tempfile::Builder::new().prefix(".").suffix(PARTIAL).tempfile_in(folder)?;
        file.write_all(entry.to_text()?.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }

    /// All that is kept, added up for each model and address.
    ///
    /// # Errors
    /// The folder can't be read; one that is not there holds nothing.
    pub fn list(&self) -> io::Result<CacheListing> {
        let (mut rows, mut damaged) = (BTreeMap::<(String, String), CacheRow>::new(), Vec::new());
        for CacheFile { path, bytes, entry } in self.files()? {
            let Some(CacheEntry { model, address, at, usage, .. }) = entry else {
                damaged.push(path);
                continue;
            };
            let row = rows.entry((model.clone(), address.clone())).or_insert_with(|| CacheRow {
                model,
                address,
                replies: 0,
                bytes: 0,
                usage: Usage::default(),
                oldest: at,
                newest: at,
            });
            (row.replies, row.bytes, row.usage) = (row.replies + 1, row.bytes + bytes, row.usage.plus(usage));
            (row.oldest, row.newest) = (row.oldest.min(at), row.newest.max(at));
        }
        damaged.sort();
        Ok(CacheListing { rows: rows.into_values().collect(), damaged })
    }

    /// Removes the replies that the rules name, what can't be used, and files that were never finished.
    ///
    /// # Errors
    /// The folder can't be read, or a file not removed.
    pub fn prune(&self, rules: &PruneRules, now: DateTime<Utc>) -> io::Result<Pruned> {
        let mut pruned = Pruned::default();
        let (mut named, mut left): (Vec<(DateTime<Utc>, u64, PathBuf)>, u64) = (Vec::new(), 0);
        for CacheFile { path, bytes, entry } in self.files()? {
            let Some(entry) = entry else {
                pruned.damaged += remove(&path, bytes, &mut pruned.bytes)?;
                continue;
            };
            (left, pruned.left) = (left + bytes, pruned.left + 1);
            if rules.name(&entry) {
                named.push((entry.at, bytes, path));
            }
        }
        named.sort();
        for (_, bytes, path) in &named {
            if rules.most_bytes.is_some_and(|most| left <= most) {
                break;
            }
            (left, pruned.left) = (left - bytes, pruned.left - 1);
            pruned.replies += remove(path, *bytes, &mut pruned.bytes)?;
        }
        for (path, bytes) in self.unfinished(now)? {
            pruned.damaged += remove(&path, bytes, &mut pruned.bytes)?;
        }
        Ok(pruned)
    }

    /// The files of replies.
    fn files(&self) -> io::Result<impl Iterator<Item = CacheFile>> {
        let is_reply = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
        Ok(self.paths()?.filter(is_reply).filter_map(|path| {
            let key = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            match fs::read(&path) {
                Ok(bytes) => {
                    // Entries of a newer version are left alone.
                    let entry = CacheEntry::from_text(&bytes, key).transpose()?.ok();
                    Some(CacheFile { bytes: bytes.len() as u64, entry, path })
                }
                // Somebody else removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(_) => Some(CacheFile { path, bytes: 0, entry: None }),
            }
        }))
    }

    /// Files whose writer was killed.
    fn unfinished(&self, now: DateTime<Utc>) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut found = Vec::new();
        for path in self.paths()?.filter(|path| path.to_string_lossy().ends_with(PARTIAL)) {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let written = metadata.modified().map(DateTime::<Utc>::from);
            if written.is_ok_and(|written| now - written > PARTIAL_LASTS) {
                found.push((path, metadata.len()));
            }
        }
        Ok(found)
    }

    /// All files in the folders of the folder.
    fn paths(&self) -> io::Result<impl Iterator<Item = PathBuf>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let folders = entries.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        // Opening a pipe would wait for its other end.
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        Ok(files.filter_map(Result::ok).filter(is_file).map(|entry| entry.path()))
    }
}

impl PruneRules {
    fn name(&self, entry: &CacheEntry) -> bool {
        let is_model = |model: &String| {
            *model == entry.model || entry.model.split_once('/').is_some_and(|(_, name)| name == model)
        };
        *self != PruneRules::default()
            && self.before.is_none_or(|moment| entry.at < moment)
            && self.model.as_ref().is_none_or(is_model)
    }
}

/// Removes a file, and counts it and its bytes; one that is gone already counts, too.
fn remove(path: &Path, bytes: u64, sum: &mut u64) -> io::Result<u64> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            *sum += bytes;
            Ok(1)
        }
    }
}

/// Makes a folder that is the user's alone, unless it is there.
fn make_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
