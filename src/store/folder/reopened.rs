//! An earlier run, opened to go on with it.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::runs::JOURNAL;
use super::{Journal, JournalFile, NewRun, RunsFolder, StoreError, private, summary};
use crate::record::RunSummary;

/// A run that was held before and is held by no other process. Nothing of it is changed until it is resumed.
#[derive(Debug)]
pub struct ReopenedRun {
    /// Its folder.
    pub folder: PathBuf,
    file: Arc<File>,
}

impl RunsFolder {
    /// Opens the run in this folder to go on with it. No other process can do so until this one lets go of it, or ends.
    ///
    /// # Errors
    /// [`StoreError::InUse`], or that its journal can't be written.
    pub fn reopen(folder: &Path) -> Result<ReopenedRun, StoreError> {
        let path = folder.join(JOURNAL);
        let failed = |source| StoreError::Io { doing: "could not write", path: path.clone(), source };
        let file = private::options().read(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                let id = name.rsplit('-').next().unwrap_or_default().to_owned();
                Err(StoreError::InUse { id, path: folder.to_path_buf() })
            }
            // Where files can't be locked, nobody can tell.
            Ok(()) | Err(TryLockError::Error(_)) => {
                Ok(ReopenedRun { folder: folder.to_path_buf(), file: Arc::new(file) })
            }
        }
    }
}

impl ReopenedRun {
    /// The run as it was left.
    pub fn run(&self) -> JournalFile {
        JournalFile::new(&self.folder, self.file.clone())
    }

    /// When the run had stopped: when it ended or, where it was cut off, when its journal was last written.
    pub fn stopped_at(&self, summary: &RunSummary) -> Option<DateTime<Utc>> {
        let written = || self.file.metadata().and_then(|it| it.modified()).map(DateTime::from).ok();
        summary.finished_at.or_else(written).map(|at| at.max(summary.started_at))
    }

    /// Goes on with the journal after its last whole line; what is left of a line that was cut off is deleted, and so is the
    /// summary of a run that goes on again.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn go_on(self, id: String) -> Result<NewRun, StoreError> {
        let path = self.folder.join(JOURNAL);
        let failed = |source| StoreError::Io { doing: "could not write", path: path.clone(), source };
        let (lines, whole) = whole_lines(&self.file).map_err(failed)?;
        if self.file.metadata().map_err(failed)?.len() > whole {
            self.file.set_len(whole).map_err(failed)?;
        }
        summary::delete(&self.folder).map_err(failed)?;
        let journal = Journal::after(self.file, lines);
        Ok(NewRun { id, folder: self.folder, journal })
    }
}

/// How many whole lines there are, and their bytes.
fn whole_lines(mut file: &File) -> io::Result<(u64, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let (mut lines, mut whole, mut read) = (0, 0, 0);
    let mut journal = BufReader::with_capacity(1 << 16, file);
    loop {
        let bytes = journal.fill_buf()?;
        if bytes.is_empty() {
            return Ok((lines, whole));
        }
        if let Some(last) = memchr::memrchr(b'\n', bytes) {
            lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            whole = read + last as u64 + 1;
        }
        let length = bytes.len();
        read += length as u64;
        journal.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::DateTime;

    use super::*;
    use crate::evidence::Turn;
    use crate::record::{Entry, FORMAT_VERSION, Overview, TrialRecord};
    use crate::score::Outcome;
    use crate::store::StoredRun;

    const AT: DateTime<chrono::Utc> = DateTime::UNIX_EPOCH;

    fn begun() -> Entry {
        let trial = |number: u32| {
            format!(
                r#"{{"number": {number}, "case": "c", "model": "m", "condition": "withFacts", "repeat": {number}}}"#
            )
        };
        Entry::RunStarted {
            version: FORMAT_VERSION,
            id: "k3f9qz".to_owned(),
            at: AT,
            provenance: serde_json::from_str(r#"{"job": "Travel desk", "models": ["m"]}"#).unwrap(),
            job: None,
            templates: Default::default(),
            trials: (1..=3).map(|number| serde_json::from_str(&trial(number)).unwrap()).collect(),
        }
    }

    fn held(trial: u32, reply: &str) -> Vec<Entry> {
        vec![
            Entry::TrialStarted { trial, at: AT, case: None },
            Entry::SessionOpened { trial, session_id: "s".to_owned(), user: "u".to_owned() },
            Entry::UserSaid { trial, turn: 1, text: "naïve".to_owned(), farewell: None, used_ms: None },
            Entry::TurnFinished { trial, turn: Turn::answered(1, "naïve", reply), resume_point: None },
            Entry::TrialFinished { trial, at: AT, outcome: Outcome::Graded, scorecard: None },
        ]
    }

    fn folder_with(journal: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("20261120-214512-agent-k3f9qz");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(JOURNAL), journal).unwrap();
        (dir, folder)
    }

    fn sample() -> Vec<u8> {
        let (_dir, folder) = folder_with(b"");
        let run = RunsFolder::reopen(&folder).unwrap().go_on("k3f9qz".to_owned()).unwrap();
        let finished = Entry::RunFinished { at: AT, interrupted: false };
        let entries = [vec![begun()], held(1, "first"), held(2, "first"), held(3, "first"), vec![finished]];
        entries.concat().iter().for_each(|entry| drop(run.journal.append(entry).unwrap()));
        drop(run.journal);
        std::fs::read(folder.join(JOURNAL)).unwrap()
    }

    fn read(run: &mut JournalFile) -> (Vec<TrialRecord>, Overview) {
        let mut trials = Vec::new();
        let overview = run.read_with_texts(|trial| {
            trials.push(trial);
            Ok(())
        });
        trials.sort_by_key(|trial: &TrialRecord| trial.trial.number);
        (trials, overview.unwrap())
    }

    fn replies(trials: &[TrialRecord]) -> Vec<Option<String>> {
        let reply = |trial: &TrialRecord| trial.evidence.as_ref()?.transcript.turns.last()?.agent.clone();
        trials.iter().map(reply).collect()
    }

    #[test]
    fn a_journal_that_was_cut_anywhere_is_gone_on_with_and_no_finished_trial_is_lost() {
        let bytes = sample();
        let first_line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in first_line..=bytes.len() {
            let (_dir, folder) = folder_with(&bytes[..cut]);
            let reopened = RunsFolder::reopen(&folder).unwrap();
            let (before, overview) = read(&mut reopened.run());
            let is_left = |trial: &&TrialRecord| trial.finished_at.is_none();
            let left: BTreeSet<u32> = before.iter().filter(is_left).map(|trial| trial.trial.number).collect();
            assert_eq!(left.len(), overview.unfinished(), "cut at {cut}");
            let run = reopened.go_on("k3f9qz".to_owned()).unwrap();
            for trial in &left {
                let again = [vec![Entry::TrialRestarted { trial: *trial, at: AT }], held(*trial, "again")].concat();
                again.iter().for_each(|entry| drop(run.journal.append(entry).unwrap()));
            }
            run.journal.append(&Entry::RunFinished { at: AT, interrupted: false }).unwrap();
            drop(run.journal);
            let mut run = JournalFile::open(&folder).unwrap();
            let (after, overview) = read(&mut run);
            assert_eq!((&run.note, overview.is_damaged(), overview.unfinished()), (&None, false, 0), "cut at {cut}");
            let reply = |trial: &u32| if left.contains(trial) { "again" } else { "first" }.to_owned();
            assert_eq!(replies(&after), [1, 2, 3].map(|trial| Some(reply(&trial))), "cut at {cut}");
            let whole = bytes[..cut].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
            assert!(std::fs::read(folder.join(JOURNAL)).unwrap().starts_with(&bytes[..whole]), "cut at {cut}");
            // One by one they are read as they are all at once.
            let one_by_one: Vec<TrialRecord> = run.trials().collect::<Result<_, _>>().unwrap();
            assert_eq!(one_by_one, after, "cut at {cut}");
        }
    }

    #[test]
    fn a_run_that_is_held_is_nobody_elses_until_it_is_let_go() {
        let (_dir, folder) = folder_with(&sample());
        let first = RunsFolder::reopen(&folder).unwrap();
        assert!(matches!(RunsFolder::reopen(&folder), Err(StoreError::InUse { id, .. }) if id == "k3f9qz"));
        let run = first.go_on("k3f9qz".to_owned()).unwrap();
        assert!(matches!(RunsFolder::reopen(&folder), Err(StoreError::InUse { .. })));
        assert_eq!(read(&mut JournalFile::open(&folder).unwrap()).0.len(), 3, "it can be read meanwhile");
        drop(run);
        RunsFolder::reopen(&folder).unwrap();
    }

    #[test]
    fn nothing_is_changed_before_a_run_is_gone_on_with() {
        let torn = [sample(), b"{\"kind\":\"trialSt".to_vec()].concat();
        let (_dir, folder) = folder_with(&torn);
        std::fs::write(folder.join("summary.json"), "{}").unwrap();
        let reopened = RunsFolder::reopen(&folder).unwrap();
        read(&mut reopened.run());
        assert_eq!(std::fs::read(folder.join(JOURNAL)).unwrap(), torn);
        assert!(folder.join("summary.json").exists());
        reopened.go_on("k3f9qz".to_owned()).unwrap();
        assert_eq!(std::fs::read(folder.join(JOURNAL)).unwrap(), sample());
        assert!(!folder.join("summary.json").exists(), "it told how the run had ended");
    }
}
