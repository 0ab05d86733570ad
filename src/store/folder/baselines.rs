//! Names of runs that later ones are compared with: `baselines/main.json` in the runs folder, a file for each, which appears
//! whole or not at all.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{RunsFolder, StoreError, private};

/// The folder of the baselines' files.
const FOLDER: &str = "baselines";
/// The version of their format.
const VERSION: u32 = 1;
/// The longest name, in characters.
const LONGEST: usize = 60;

/// A baseline's name: letters, digits, `-`, `_` and `.`, beginning with a letter, as the ids and folders of runs need not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineName(String);

/// A text that is no baseline's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a name has up to {LONGEST} letters, digits, `-`, `_` and `.`, and begins with a letter: main, release-1.2")]
pub struct BaselineNameError;

impl FromStr for BaselineName {
    type Err = BaselineNameError;

    fn from_str(text: &str) -> Result<BaselineName, BaselineNameError> {
        let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
        match begins && text.len() <= LONGEST && text.chars().all(is_known) {
            true => Ok(BaselineName(text.to_owned())),
            false => Err(BaselineNameError),
        }
    }
}

impl Display for BaselineName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run that later ones are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    /// The format's version.
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// When it became the baseline.
    pub set_at: DateTime<Utc>,
}

impl RunsFolder {
    /// Makes a run the baseline of this name, in place of the one that was.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn set_baseline(&self, name: &BaselineName, run: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let (folder, path) = (self.path().join(FOLDER), self.baseline_file(name));
        let write = || -> io::Result<()> {
            if !folder.is_dir() {
                private::folder().create(&folder).or_else(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists if folder.is_dir() => Ok(()),
                    _ => Err(error),
                })?;
            }
            let baseline = Baseline { version: VERSION, run: run.to_owned(), set_at: at };
            let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&folder)?;
            file.write_all(format!("{}\n", serde_json::to_string(&baseline)?).as_bytes())?;
            file.as_file().sync_data()?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| StoreError::Io { doing: "could not write", path: path.clone(), source })
    }

    /// The baseline of this name: the id of its run, which may have been deleted since.
    ///
    /// # Errors
    /// [`StoreError::NoSuchBaseline`], or that its file can't be read.
    pub fn baseline(&self, name: &BaselineName) -> Result<Baseline, StoreError> {
        let path = self.baseline_file(name);
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => self.no_such_baseline(name),
            _ => StoreError::Io { doing: "could not read", path: path.clone(), source },
        })?;
        let unreadable = |why: String| StoreError::Unreadable { path: path.clone(), why };
        let baseline: Baseline = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        match baseline.version <= VERSION {
            true => Ok(baseline),
            false => Err(unreadable("it is of a newer version of eval-job".to_owned())),
        }
    }

    /// The names of all baselines, in order.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn baseline_names(&self) -> Result<Vec<BaselineName>, StoreError> {
        let path = self.path().join(FOLDER);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { doing: "could not read", path, source }),
        };
        let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<BaselineName> = files.filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Removes a baseline; its run stays.
    ///
    /// # Errors
    /// [`StoreError::NoSuchBaseline`], or that its file can't be removed.
    pub fn remove_baseline(&self, name: &BaselineName) -> Result<(), StoreError> {
        let path = self.baseline_file(name);
        fs::remove_file(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => self.no_such_baseline(name),
            _ => StoreError::Io { doing: "could not remove", path, source },
        })
    }

    fn baseline_file(&self, name: &BaselineName) -> PathBuf {
        self.path().join(FOLDER).join(format!("{name}.json"))
    }

    fn no_such_baseline(&self, name: &BaselineName) -> StoreError {
        let known = self.baseline_names().unwrap_or_default();
        let known = known.iter().map(BaselineName::to_string).collect();
        StoreError::NoSuchBaseline { name: name.to_string(), known, path: self.path().to_path_buf() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn name(text: &str) -> BaselineName {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_makes_a_harmless_file_and_is_no_time() {
        for text in ["main", "release-1.2", "a_b", "Z"] {
            assert_eq!(name(text).to_string(), text);
        }
        for text in ["", "2026", "../x", "a/b", "a b", ".hidden", "-x", "žluť", &"x".repeat(61)] {
            assert_eq!(text.parse::<BaselineName>(), Err(BaselineNameError), "{text}");
        }
    }

    #[test]
    fn a_baseline_is_kept_replaced_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        assert_eq!(runs.baseline_names().unwrap(), []);
        let at = DateTime::UNIX_EPOCH;
        for run in ["aaaaaa", "bbbbbb"] {
            runs.set_baseline(&name("main"), run, at).unwrap();
            assert_eq!(runs.baseline(&name("main")).unwrap().run, run);
        }
        runs.set_baseline(&name("before"), "aaaaaa", at).unwrap();
        assert_eq!(runs.baseline_names().unwrap(), [name("before"), name("main")]);
        runs.remove_baseline(&name("main")).unwrap();
        let error = runs.baseline(&name("main")).unwrap_err().to_string();
        assert!(error.contains("there is no baseline `main`"), "{error}");
        assert!(
            matches!(runs.remove_baseline(&name("main")), Err(StoreError::NoSuchBaseline { known, .. }) if known == ["before"])
        );
    }

    #[test]
    fn a_run_is_found_by_its_baseline_as_long_as_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        let mut rng = fastrand::Rng::with_seed(1);
        let first = runs.create("job", DateTime::UNIX_EPOCH, &mut rng).unwrap();
        let second = runs.create("job", DateTime::UNIX_EPOCH, &mut rng).unwrap();
        runs.set_baseline(&name("main"), &first.id, DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(runs.find(Some("main")).unwrap(), first.folder);
        assert_eq!(runs.find(Some(&second.id)).unwrap(), second.folder);
        fs::remove_dir_all(&first.folder).unwrap();
        let error = runs.find(Some("main")).unwrap_err();
        assert!(
            matches!(&error, StoreError::BaselineDeleted { name, run, .. } if name == "main" && *run == first.id),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_is_no_baseline_is_told_and_not_taken_for_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let runs = RunsFolder::at(dir.path());
        runs.set_baseline(&name("main"), "aaaaaa", DateTime::UNIX_EPOCH).unwrap();
        for text in ["{", r#"{"version": 2, "run": "a", "setAt": "2026-11-22T10:31:07Z"}"#] {
            fs::write(dir.path().join("baselines/main.json"), text).unwrap();
            assert!(matches!(runs.baseline(&name("main")), Err(StoreError::Unreadable { .. })));
        }
        assert!(matches!(runs.names(), Err(StoreError::NoRuns { .. })));
    }
}
