//! A recording that is replayed, and what of it was used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::CassetteError;
use super::file::{RUN, trial_file};
use super::line::RunHeader;
use super::reading::{read_run, read_trial};
use super::tape::{OpenTape, OpenTapes, Tape};
use super::trial_replay::TrialReplay;
use crate::evidence::TrialId;
use crate::secret::Redactor;

/// The note that says which limit ended the recorded run.
pub(super) const LIMIT: &str = "limit";

/// A recording that is replayed.
pub struct Replay {
    folder: PathBuf,
    pub(super) header: RunHeader,
    redactor: Redactor,
    pub(super) tapes: OpenTapes,
    pub(super) run: Tape,
    used: Arc<Mutex<Used>>,
}

/// The used part of a recording.
#[derive(Default)]
struct Used {
    files: BTreeSet<String>,
    /// The exchanges that were left over, by their files.
    left_over: BTreeMap<String, usize>,
}

/// The unused part of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unused {
    /// Exchanges, of trials that were replayed.
    pub exchanges: usize,
    /// The files that hold them.
    pub files: Vec<String>,
    /// The files of trials that were not replayed.
    pub trials: Vec<String>,
}

impl Replay {
    pub(super) fn read(folder: &Path, redactor: Redactor) -> Result<Replay, CassetteError> {
        let path = folder.join(RUN);
        let (header, tracks) = read_run(&path)?;
        let used = Arc::new(Mutex::new(Used::default()));
        let run = TrialReplay::new(path, Ok(tracks), redactor.clone(), Box::new(|_| {}));
        let (folder, run) = (folder.to_path_buf(), Tape::Replayed(Arc::new(run)));
        Ok(Replay { folder, header, redactor, tapes: OpenTapes::default(), run, used })
    }

    /// The unused part, now that the run is over.
    pub fn unused(&self) -> Unused {
        let used = self.used();
        let names = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut trials: Vec<String> =
            names.filter(|name| name.ends_with(".jsonl") && name != RUN && !used.files.contains(name)).collect();
        trials.sort();
        Unused { exchanges: used.left_over.values().sum(), files: used.left_over.keys().cloned().collect(), trials }
    }

    pub(super) fn open(&self, trial: &TrialId) -> OpenTape {
        let name = trial_file(trial);
        let path = self.folder.join(&name);
        self.used().files.insert(name.clone());
        let (tracks, used) = (read_trial(&path, trial), Arc::clone(&self.used));
        let left_over = Box::new(move |count| {
            used.lock().unwrap_or_else(PoisonError::into_inner).left_over.insert(name, count);
        });
        let replay = TrialReplay::new(path, tracks, self.redactor.clone(), left_over);
        self.tapes.open(trial.number, Tape::Replayed(Arc::new(replay)))
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn was_held(&self, trial: &TrialId) -> bool {
        let was_stopped = match &self.run {
            Tape::Replayed(run) => !run.note::<Value>(LIMIT).is_null(),
            Tape::Off | Tape::Recorded(_) => false,
        };
        !was_stopped || self.folder.join(trial_file(trial)).exists()
    }
}
