//! The folder of all runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use super::entries::first_line;
use super::reading::is_locked;
use super::{Journal, JournalFile, StoreError, history, private, summary};
use crate::record::{BaselineCheck, ListedRun, RunFigures};
use crate::store::Store;

/// The journal's name in a run's folder.
pub(in crate::store) const JOURNAL: &str = "journal.ndjson";
/// How much of a folder's name is the time: `20261120-214512`.
const SECOND: usize = 15;

/// The folder of all runs: `runs/`, or `--runs-dir`.
#[derive(Debug, Clone)]
pub struct RunsFolder {
    path: PathBuf,
}

/// A run that has just been given its folder.
#[derive(Debug)]
pub struct NewRun {
    /// Six letters and digits, unique within the runs folder.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its journal, still empty.
    pub journal: Journal,
}

impl RunsFolder {
    /// The folder at this path; it need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> RunsFolder {
        RunsFolder { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a folder is that of a run.
    pub fn is_run(folder: &Path) -> bool {
        folder.join(JOURNAL).is_file()
    }

    /// Deletes the folder of a run in whose journal there is not even a line, as on a full disk. Returns whether it was one.
    pub fn delete_unbegun(folder: &Path) -> bool {
        let journal = folder.join(JOURNAL);
        let is_unbegun = fs::read(&journal).is_ok_and(|bytes| !bytes.contains(&b'\n'));
        if is_unbegun {
            // Nothing is lost with it, and nobody can do anything about it.
            drop(fs::remove_file(&journal).and_then(|()| fs::remove_dir(folder)));
        }
        is_unbegun
    }

    /// A folder for a new run, named by time, job and id.
    pub(super) fn new_run(&self, job: &str, at: DateTime<Utc>, rng: &mut fastrand::Rng) -> Result<NewRun, StoreError> {
        fs::create_dir_all(&self.path).map_err(|source| self.io("could not create the runs folder", source))?;
        loop {
            let id: String = (0..6)
                .map(|_| rng.choice(b"abcdefghjkmnpqrstuvwxyz23456789").map_or('a', |c| char::from(*c)))
                .collect();
            let path = self.path.join(format!("{}-{}-{id}", at.format("%Y%m%d-%H%M%S"), slug(job)));
            match private::folder().create(&path) {
                Ok(()) => {
                    let file = path.join(JOURNAL);
                    let journal = Journal::create(&file).map_err(|source| StoreError::Io {
                        doing: "could not create",
                        path: file,
                        source,
                    })?;
                    return Ok(NewRun { id, folder: path, journal });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(StoreError::Io { doing: "could not create the run's folder", path, source }),
            }
        }
    }

    /// The names of all runs' folders, oldest first.
    ///
    /// # Errors
    /// [`StoreError::NoRuns`] when there is no runs folder or nothing in it.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let none = || StoreError::NoRuns { path: self.path.clone() };
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(none()),
            Err(source) => return Err(self.io("could not read", source)),
        };
        let mut runs: Vec<(String, Option<SystemTime>)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let journal = fs::metadata(entry.path().join(JOURNAL)).ok().filter(fs::Metadata::is_file)?;
                Some((entry.file_name().to_string_lossy().into_owned(), journal.modified().ok()))
            })
            .collect();
        runs.sort_by(|(a, _), (b, _)| a.cmp(b));
        // A name tells the second; the jobs of one command can all run within it, one after the other. The time of a file says
        // little: it is another one after a copy, and after a run was resumed.
        for same in runs.chunk_by_mut(|(a, _), (b, _)| a.get(..SECOND) == b.get(..SECOND)) {
            if same.len() > 1 {
                same.sort_by_cached_key(|(name, written)| {
                    (self.started_at(name).or_else(|| written.map(DateTime::from)), *written)
                });
            }
        }
        let names: Vec<String> = runs.into_iter().map(|(name, _)| name).collect();
        if names.is_empty() { Err(none()) } else { Ok(names) }
    }

    /// The names of all folders, in no order; none where they can't be read.
    pub fn folder_names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Whether another process writes the run in the folder of this name.
    pub fn is_being_written(&self, name: &str) -> bool {
        is_locked(&self.path.join(name).join(JOURNAL))
    }

    /// When a run began, to the nanosecond: its summary is shorter than the first line of its journal, which has the whole job.
    fn started_at(&self, name: &str) -> Option<DateTime<Utc>> {
        let folder = self.path.join(name);
        let of_journal = || Some(first_line(&File::open(folder.join(JOURNAL)).ok()?)?.started_at);
        summary::started_at(&folder).or_else(of_journal)
    }

    /// Finds a run by the name of a baseline, its id or the beginning or end of its folder's name; the newest without one.
    ///
    /// # Errors
    /// When none or several fit.
    pub fn find(&self, id: Option<&str>) -> Result<PathBuf, StoreError> {
        let folder = |name: &String| self.path.join(name);
        let Some(id) = id else {
            return self.names()?.last().map(folder).ok_or_else(|| StoreError::NoRuns { path: self.path.clone() });
        };
        // Also the folder itself, as it was printed.
        let id = id.trim_end_matches('/').rsplit('/').next().unwrap_or(id);
        let baseline = self.run_of_baseline(id)?;
        let names = match self.names() {
            Err(StoreError::NoRuns { .. }) if baseline.is_some() => Vec::new(),
            names => names?,
        };
        if let Some(run) = baseline {
            let end = format!("-{run}");
            let deleted = || StoreError::BaselineDeleted { name: id.to_owned(), run, path: self.path.clone() };
            return names.iter().find(|name| name.ends_with(&end)).map(folder).ok_or_else(deleted);
        }
        let fitting: Vec<&String> =
            names.iter().filter(|name| name.ends_with(&format!("-{id}")) || name.starts_with(id)).collect();
        match fitting.as_slice() {
            [name] => Ok(folder(name)),
            [] => Err(StoreError::NoSuchRun { id: id.to_owned(), path: self.path.clone() }),
            _ => Err(StoreError::Ambiguous { id: id.to_owned(), names: fitting.into_iter().cloned().collect() }),
        }
    }

    /// The id of the run that is the baseline of this name, if there is one.
    fn run_of_baseline(&self, name: &str) -> Result<Option<String>, StoreError> {
        let Ok(name) = name.parse() else { return Ok(None) };
        match self.baseline(&name) {
            Ok(baseline) => Ok(Some(baseline.run)),
            Err(StoreError::NoSuchBaseline { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A run as a list shows it.
    ///
    /// # Errors
    /// When none or several fit, or when it can't be read.
    pub fn listed(&self, id: Option<&str>) -> Result<ListedRun, StoreError> {
        listed(&self.find(id)?)
    }

    /// Opens the run that is meant where runs are counted or compared: the one of this id, else the newest in which no person
    /// played the user (`eval-job record`), as far as there is one.
    ///
    /// # Errors
    /// When none or several fit, or when it can't be read.
    pub fn open_unattended(&self, id: Option<&str>) -> Result<JournalFile, StoreError> {
        let by_persona = |name: &&String| begun(&self.path.join(name)).is_ok_and(|run| !run.provenance.by_person);
        let newest = match id {
            None => self.names()?.iter().rev().find(by_persona).cloned(),
            Some(_) => None,
        };
        match newest {
            Some(name) => JournalFile::open(&self.path.join(name)),
            None => self.open(id),
        }
    }

    /// The figures of the run in the folder of this name. Of one that goes on or was killed its first line says the rest.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn figures_of(&self, name: &str) -> Result<RunFigures, StoreError> {
        let folder = self.path.join(name);
        let with_job = |figures: RunFigures| figures.with_job(history::job(&folder).as_deref());
        if let Some(figures) = summary::figures(&folder) {
            return Ok(with_job(figures));
        }
        let listed = JournalFile::open(&folder)?.listed()?;
        Ok(summary::figures(&folder).map_or_else(|| RunFigures::from(listed), with_job))
    }

    /// How the run in the folder of this name was beside the baseline of its gate; `None` where it is of another job, was not compared, or
    /// has no summary.
    pub fn baseline_check_of(&self, name: &str, job: &str) -> Option<BaselineCheck> {
        let summary = summary::read_whole(&self.path.join(name)).filter(|summary| summary.provenance.job == job)?;
        summary.baseline
    }

    /// The runs with all that a trend needs, for which a run is read whole where an earlier version kept less.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn whole_figures_of(&self, name: &str) -> Result<RunFigures, StoreError> {
        history::figures_of(&self.path.join(name))
    }

    fn io(&self, doing: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { doing, path: self.path.clone(), source }
    }
}

impl Store for RunsFolder {
    type NewRun = NewRun;
    type Run = JournalFile;

    fn create(&self, job: &str, at: DateTime<Utc>, rng: &mut fastrand::Rng) -> Result<NewRun, StoreError> {
        self.new_run(job, at, rng)
    }

    fn runs(&self) -> Result<impl Iterator<Item = Result<ListedRun, StoreError>>, StoreError> {
        let names = self.names()?;
        Ok(names.into_iter().map(|name| listed(&self.path.join(name))))
    }

    fn open(&self, id: Option<&str>) -> Result<JournalFile, StoreError> {
        JournalFile::open(&self.find(id)?)
    }
}

/// The run in this folder, as a list shows it.
pub(super) fn listed(folder: &Path) -> Result<ListedRun, StoreError> {
    match summary::read(folder) {
        Some(run) => Ok(run),
        None => JournalFile::open(folder)?.listed(),
    }
}

/// The run in this folder, as a list shows it, or at least how it began: of one without a summary only the first line is read.
fn begun(folder: &Path) -> Result<ListedRun, StoreError> {
    match summary::read(folder) {
        Some(run) => Ok(run),
        None => JournalFile::open(folder)?.begun(),
    }
}

/// A job's name as part of a folder's name: a job's name is anybody's text.
fn slug(name: &str) -> String {
    let letters: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).take(40).collect();
    let slug = letters.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    if slug.is_empty() { "job".to_owned() } else { slug }
}

#[cfg(test)]
mod tests;
