//! The folder of all runs.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use super::entries::Entries;
use super::{Journal, private};
use crate::record::{FORMAT_VERSION, RunRecord};

const JOURNAL: &str = "journal.ndjson";
const RECORD: &str = "run.json";
/// How much of a folder's name is the time: `20261120-214512`.
const SECOND: usize = 15;

/// The folder of all runs: `runs/`, or `--runs-dir`.
#[derive(Debug, Clone)]
pub struct RunsFolder {
    path: PathBuf,
}

/// One run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
}

/// A run that has just been given its folder.
#[derive(Debug)]
pub struct NewRun {
    /// Six letters and digits, unique within the runs folder.
    pub id: String,
    /// Its folder.
    pub folder: RunFolder,
    /// Its journal, still empty.
    pub journal: Journal,
}

/// A run that was found again.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its record: what its journal adds up to.
    pub record: RunRecord,
    /// What was wrong with the journal, if something was.
    pub note: Option<String>,
}

/// Why a run could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{doing} {path}: {source}", path = .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{id}` in {path}", path = .path.display())]
    NoSuchRun {
        /// What was asked for.
        id: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There are no runs at all.
    #[error("there are no runs in {path} yet", path = .path.display())]
    NoRuns {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// Several runs fit.
    #[error("several runs fit `{id}`: {names}", names = .names.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// The folders that fit.
        names: Vec<String>,
    },
    /// It can't be read.
    #[error("{path} can't be read: {why}", path = .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl RunsFolder {
    /// The folder at this path; it need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> RunsFolder {
        RunsFolder { path: path.into() }
    }

    /// Creates a folder for a new run, named by time, job and id.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the folder or its journal can't be created.
    pub fn create(&self, job: &str, at: DateTime<Utc>, rng: &mut fastrand::Rng) -> Result<NewRun, StoreError> {
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
                    return Ok(NewRun { id, folder: RunFolder { path }, journal });
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
        // A name tells the second; the jobs of one command can all run within it, one after the other.
        runs.sort_by(|(a, ended_a), (b, ended_b)| {
            a.get(..SECOND).cmp(&b.get(..SECOND)).then(ended_a.cmp(ended_b)).then_with(|| a.cmp(b))
        });
        let names: Vec<String> = runs.into_iter().map(|(name, _)| name).collect();
        if names.is_empty() { Err(none()) } else { Ok(names) }
    }

    /// Finds a run by its id or by the beginning or end of its folder's name; the newest without one.
    ///
    /// # Errors
    /// When none or several fit.
    pub fn find(&self, id: Option<&str>) -> Result<RunFolder, StoreError> {
        let names = self.names()?;
        let folder = |name: &String| RunFolder { path: self.path.join(name) };
        let Some(id) = id else {
            return names.last().map(folder).ok_or_else(|| StoreError::NoRuns { path: self.path.clone() });
        };
        // Also the folder itself, as it was printed.
        let id = id.trim_end_matches('/').rsplit('/').next().unwrap_or(id);
        let fitting: Vec<&String> =
            names.iter().filter(|name| name.ends_with(&format!("-{id}")) || name.starts_with(id)).collect();
        match fitting.as_slice() {
            [name] => Ok(folder(name)),
            [] => Err(StoreError::NoSuchRun { id: id.to_owned(), path: self.path.clone() }),
            _ => Err(StoreError::Ambiguous { id: id.to_owned(), names: fitting.into_iter().cloned().collect() }),
        }
    }

    fn io(&self, doing: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { doing, path: self.path.clone(), source }
    }
}

impl RunFolder {
    /// Writes `run.json`: to a file beside it first, synced, then renamed.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write_record(&self, record: &RunRecord) -> Result<(), StoreError> {
        let path = self.path.join(RECORD);
        let beside = self.path.join("run.json.partial");
        let write = || -> io::Result<()> {
            // One that is left over from a kill keeps its own mode.
            let _ = fs::remove_file(&beside);
            let mut file = BufWriter::new(private::options().write(true).create_new(true).open(&beside)?);
            record.write_json(&mut file)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
            fs::rename(&beside, &path)
        };
        write().map_err(|source| StoreError::Io { doing: "could not write", path: path.clone(), source })
    }

    /// Reads the run from its journal, which is there whatever happened to the run.
    ///
    /// # Errors
    /// When the journal can't be read, is newer than this eval-job, or has no beginning.
    pub fn read(&self) -> Result<Found, StoreError> {
        let path = self.path.join(JOURNAL);
        let unreadable = |source| StoreError::Io { doing: "could not read", path: path.clone(), source };
        let file = fs::File::open(&path).map_err(unreadable)?;
        found(&path, Entries::new(BufReader::with_capacity(1 << 16, file)))
    }

    /// The same from the journal that was just written: by the descriptor that is open, wherever the folder is by now.
    ///
    /// # Errors
    /// The same.
    pub fn read_back(&self, journal: &Journal) -> Result<Found, StoreError> {
        let path = self.path.join(JOURNAL);
        let unreadable = |source| StoreError::Io { doing: "could not read", path: path.clone(), source };
        found(&path, journal.read_back().map_err(unreadable)?)
    }
}

/// What a journal adds up to, entry by entry.
fn found(path: &Path, mut entries: Entries<impl BufRead>) -> Result<Found, StoreError> {
    let record = RunRecord::of(entries.by_ref());
    if let Some(source) = entries.failure {
        return Err(StoreError::Io { doing: "could not read", path: path.to_path_buf(), source });
    }
    let note = match (&entries.damaged, entries.cut_off) {
        (Some((line, why)), _) => {
            Some(format!("line {line} of the journal is damaged ({why}); what follows it is left out"))
        }
        (None, 0) => None,
        (None, bytes) => Some(format!("the journal's last line was cut off after {bytes} bytes; it is left out")),
    };
    let record = record.ok_or_else(|| StoreError::Unreadable {
        path: path.to_path_buf(),
        why: note.clone().unwrap_or_else(|| "the journal is empty: the run was cut off before it began".to_owned()),
    })?;
    if !record.is_readable() {
        let why = format!("it has format {}, this eval-job reads up to {FORMAT_VERSION}", record.version);
        return Err(StoreError::Unreadable { path: path.to_path_buf(), why });
    }
    Ok(Found { record, note })
}

/// A job's name as part of a folder's name: a job's name is anybody's text.
fn slug(name: &str) -> String {
    let letters: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).take(40).collect();
    let slug = letters.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    if slug.is_empty() { "job".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_anywhere_makes_a_harmless_folder() {
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("Reminders & contacts"), "reminders-contacts");
        assert_eq!(slug("提醒"), "job");
        assert_eq!(slug(&"x".repeat(500)).len(), 40);
    }

    #[test]
    fn two_runs_of_one_second_get_a_folder_each() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        let at = DateTime::UNIX_EPOCH;
        let first = runs.create("job", at, &mut fastrand::Rng::with_seed(1)).unwrap();
        let second = runs.create("job", at, &mut fastrand::Rng::with_seed(1)).unwrap();
        assert_ne!(first.folder.path, second.folder.path);
        assert_eq!(runs.names().unwrap().len(), 2);
        assert_eq!(runs.find(Some(&first.id)).unwrap().path, first.folder.path);
        assert!(matches!(runs.find(Some("19700101")), Err(StoreError::Ambiguous { .. })));
        assert!(matches!(runs.find(Some("nope")), Err(StoreError::NoSuchRun { .. })));
    }

    #[test]
    fn the_newest_run_of_a_second_is_the_one_that_was_written_last() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        let mut rng = fastrand::Rng::with_seed(1);
        for (job, age) in [("zebra", 2), ("ape", 1)] {
            let run = runs.create(job, DateTime::UNIX_EPOCH, &mut rng).unwrap();
            let journal = fs::File::options().append(true).open(run.folder.path.join(JOURNAL)).unwrap();
            journal.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(10 - age)).unwrap();
        }
        let newest = runs.find(None).unwrap().path;
        assert!(newest.to_string_lossy().contains("-ape-"), "{newest:?}");
        assert!(runs.names().unwrap()[0].contains("-zebra-"));
    }

    #[cfg(unix)]
    #[test]
    fn a_run_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let run =
            RunsFolder::at(dir.path()).create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
        let mut file = private::options().write(true).create_new(true).open(run.folder.path.join(RECORD)).unwrap();
        io::Write::write_all(&mut file, b"{}").unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&run.folder.path), 0o700);
        assert_eq!(mode(&run.folder.path.join(JOURNAL)), 0o600);
        assert_eq!(mode(&run.folder.path.join(RECORD)), 0o600);
    }

    #[test]
    fn a_run_that_never_began_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        assert!(matches!(runs.find(None), Err(StoreError::NoRuns { .. })));
        let run = runs.create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
        let error = run.folder.read().unwrap_err().to_string();
        assert!(error.contains("cut off before it began"), "{error}");
    }
}
