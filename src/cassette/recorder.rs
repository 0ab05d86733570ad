//! Writes a recording.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::file::{RUN, create, make_folder, trial_file};
use super::kept::{KeptEntries, KeptEntry};
use super::line::{CassetteLine, Exchange, Note, Party, RunHeader, TrialHeader};
use super::tape::{OpenTape, OpenTapes, Tape};
use super::{CassetteError, VERSION};
use crate::evidence::TrialId;
use crate::secret::Redactor;

/// A recording that is being made.
pub struct CassetteRecording {
    folder: PathBuf,
    pub(super) header: RunHeader,
    redactor: Redactor,
    pub(super) tapes: OpenTapes,
    pub(super) run: Tape,
    failure: Arc<FirstWriteError>,
    /// Whether the time of the whole run is up.
    is_cut_off: Arc<AtomicBool>,
}

/// A file that is made to find out whether files can be.
const TRIED: &str = ".tried";

/// The note of a conversation that the time limit of the run has cut off.
pub(super) const CUT_OFF: &str = "cut off";

/// The note of what was kept of such a conversation.
pub(super) const KEPT: &str = "kept";

/// The first write that failed.
type FirstWriteError = Mutex<Option<CassetteError>>;

impl CassetteRecording {
    pub(super) fn create(
        folder: &Path,
        header: RunHeader,
        redactor: Redactor,
    ) -> Result<CassetteRecording, CassetteError> {
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |source: io::Error| match source.kind() {
                io::ErrorKind::AlreadyExists => CassetteError::Exists(folder.to_path_buf()),
                _ => CassetteError::Io { path, source },
            }
        };
        make_folder(folder).map_err(unwritable(folder))?;
        let path = folder.join(RUN);
        let file = create(&path).map_err(unwritable(&path))?;
        let failure = Arc::new(FirstWriteError::default());
        let is_cut_off = Arc::new(AtomicBool::new(false));
        let run = TrialRecorder {
            path,
            file: Mutex::new(Some(file)),
            attempt: AtomicU32::new(0),
            redactor: redactor.clone(),
            failure: failure.clone(),
            is_cut_off: is_cut_off.clone(),
            kept: Mutex::default(),
        };
        run.append(&CassetteLine::Run(header.clone()));
        let begun = unpoisoned(&failure).take();
        begun.map_or(Ok(()), Err)?;
        let run = Tape::Recorded(Arc::new(run));
        Ok(CassetteRecording {
            folder: folder.to_path_buf(),
            header,
            redactor,
            tapes: OpenTapes::default(),
            run,
            failure,
            is_cut_off,
        })
    }

    /// Checks that a recording can be made in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// It holds a recording already, or can't be written.
    pub fn check(folder: &Path) -> Result<(), CassetteError> {
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |source| CassetteError::Io { path, source }
        };
        make_folder(folder).map_err(unwritable(folder))?;
        if folder.join(RUN).exists() {
            return Err(CassetteError::Exists(folder.to_path_buf()));
        }
        let tried = folder.join(TRIED);
        create(&tried).map_err(unwritable(&tried))?;
        std::fs::remove_file(&tried).map_err(unwritable(&tried))
    }

    /// The first write that failed: what came after it is not recorded whole.
    pub fn failure(&self) -> Option<CassetteError> {
        unpoisoned(&self.failure).take()
    }

    pub(super) fn open(&self, trial: &TrialId) -> OpenTape {
        let path = self.folder.join(trial_file(trial));
        let file = create(&path).map_err(|source| self.failed(&path, source)).ok();
        let recorder = TrialRecorder {
            path,
            file: Mutex::new(file),
            attempt: AtomicU32::new(0),
            redactor: self.redactor.clone(),
            failure: self.failure.clone(),
            is_cut_off: self.is_cut_off.clone(),
            kept: Mutex::default(),
        };
        recorder.append(&CassetteLine::Trial(TrialHeader { version: VERSION, trial: trial.key() }));
        self.tapes.open(trial.number, Tape::Recorded(Arc::new(recorder)))
    }

    /// The time of the whole run is up: whatever is not over is dropped now.
    pub(super) fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::Relaxed);
    }

    fn failed(&self, path: &Path, source: io::Error) {
        unpoisoned(&self.failure).get_or_insert(CassetteError::Io { path: path.to_path_buf(), source });
    }
}

/// Records one trial.
pub struct TrialRecorder {
    path: PathBuf,
    /// `None` after a write that failed.
    file: Mutex<Option<File>>,
    attempt: AtomicU32,
    redactor: Redactor,
    failure: Arc<FirstWriteError>,
    is_cut_off: Arc<AtomicBool>,
    kept: Mutex<KeptEntries>,
}

impl TrialRecorder {
    pub(super) fn begin_attempt(&self, attempt: u32) {
        self.attempt.store(attempt, Ordering::Relaxed);
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt.load(Ordering::Relaxed)
    }

    /// A request as it is written, and looked for.
    pub(super) fn cleared_request(&self, request: &impl Serialize) -> Value {
        cleared_request(&self.redactor, request)
    }

    pub(super) fn exchange<A, P>(&self, attempt: u32, with: Party, request: Value, outcome: Result<&A, &P>)
    where
        A: Serialize + DeserializeOwned,
        P: Serialize + DeserializeOwned,
    {
        let (answer, abandoned) = match outcome {
            Ok(answer) => (Some(self.cleared(answer)), None),
            Err(known) => (None, Some(self.cleared(known))),
        };
        let is_cut_off = abandoned.is_some() && self.is_cut_off.load(Ordering::Relaxed);
        self.append(&CassetteLine::Exchange(Exchange { attempt, with, request, answer, abandoned, is_cut_off }));
    }

    pub(super) fn note<T: Serialize + DeserializeOwned>(&self, name: &str, value: &T) {
        let note = Note { attempt: self.attempt(), name: name.to_owned(), value: self.cleared(value) };
        self.append(&CassetteLine::Note(note));
    }

    /// An entry of the trial is kept.
    pub(super) fn kept(&self, entry: KeptEntry) {
        unpoisoned(&self.kept).add(self.attempt(), entry);
    }

    /// The trial is over: nothing is written after it.
    pub(super) fn end(&self) {
        self.append(&CassetteLine::End);
        *unpoisoned(&self.file) = None;
    }

    /// Nobody waits for the trial any more: one that the time limit of the run has cut off is recorded up to there.
    pub(super) fn dropped(&self) {
        if self.is_cut_off.load(Ordering::Relaxed) && unpoisoned(&self.file).is_some() {
            self.note(CUT_OFF, &true);
            let kept = unpoisoned(&self.kept).clone();
            self.note(KEPT, &kept);
            self.end();
        }
    }

    /// A value without secrets.
    fn cleared<T: Serialize + DeserializeOwned>(&self, value: &T) -> Value {
        let json = serde_json::to_vec(value).unwrap_or_default();
        match self.redactor.cleared(value, &json) {
            Ok(None) => serde_json::to_value(value).unwrap_or_default(),
            Ok(Some(cleared)) => serde_json::to_value(&cleared).unwrap_or_default(),
            Err(_) => cleared_request(&self.redactor, value),
        }
    }

    /// Appends a line. After a failure nothing more is written, and the run goes on.
    fn append(&self, line: &CassetteLine) {
        let mut file = unpoisoned(&self.file);
        let Some(open) = file.as_mut() else { return };
        let mut json = serde_json::to_vec(line).unwrap_or_default();
        json.push(b'\n');
        if let Err(source) = open.write_all(&json) {
            *file = None;
            unpoisoned(&self.failure).get_or_insert(CassetteError::Io { path: self.path.clone(), source });
        }
    }
}

/// A request without secrets, as it is written and as it is looked for.
pub(super) fn cleared_request(redactor: &Redactor, request: &impl Serialize) -> Value {
    let mut request = serde_json::to_value(request).unwrap_or_default();
    redactor.redact_json(&mut request);
    request
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
