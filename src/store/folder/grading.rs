//! The answers of another judge about a run's conversations: `grade-1.ndjson`, a journal of its own beside the run's.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::{Entries, entries_at};
use super::journal_file::unreadable;
use super::line_places::LinePlaces;
use super::{Journal, JournalFile, StoreError};
use crate::evidence::{AskedQuestion, Judgement, Observed};
use crate::record::{Entry, ModelCall};
use crate::secret::Redactor;

/// A grading for which a judge is being asked.
#[derive(Debug)]
pub struct NewGrading {
    /// Its number among those of its run, from 1.
    pub number: u32,
    /// Its journal's path.
    pub path: PathBuf,
    /// Its journal, still empty.
    pub journal: Journal,
}

/// The questions and replies of one grading of a run, read conversation by conversation.
#[derive(Debug)]
pub struct Grading {
    path: PathBuf,
    file: Arc<File>,
    redactor: Option<Redactor>,
    /// The judge's model.
    pub judge: String,
    /// Whether everything was asked.
    pub is_whole: bool,
    /// Whether a question has no usable answer.
    pub has_failures: bool,
    /// The lines about each trial.
    places: LinePlaces,
}

/// A grading's questions and replies about one conversation.
#[derive(Debug, Default)]
pub struct Regraded {
    /// The questions, each with its judgement, in the order in which they are asked.
    pub judgements: Vec<(AskedQuestion, Judgement)>,
    /// Every call of the judge's model.
    pub calls: Vec<ModelCall>,
}

impl JournalFile {
    /// Starts a grading beside the run: `grade-1.ndjson`, or the next that is free.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn new_grading(&self) -> Result<NewGrading, StoreError> {
        let mut number = self.free_grading();
        loop {
            let path = self.folder.join(format!("grade-{number}.ndjson"));
            match Journal::create(&path) {
                Ok(journal) => return Ok(NewGrading { number, path, journal }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(StoreError::Io { doing: "could not create", path, source }),
            }
        }
    }

    /// The number of the next grading.
    pub fn free_grading(&self) -> u32 {
        let is_free = |number: &u32| {
            !["json", "ndjson"].iter().any(|ending| self.folder.join(format!("grade-{number}.{ending}")).exists())
        };
        (1..).find(is_free).unwrap_or(u32::MAX)
    }

    /// The gradings for which a judge was asked, the newest first: those that can be read. One that was ended before its first
    /// line says nothing.
    pub fn gradings(&self) -> impl Iterator<Item = Grading> {
        let read = |number: u32| {
            let path = self.folder.join(format!("grade-{number}.ndjson"));
            let file = File::open(&path).ok()?;
            Grading::read(&path, Arc::new(file), self.redactor.clone(), |_| ()).ok()
        };
        (1..self.free_grading()).rev().filter_map(read).filter(|grading| !grading.judge.is_empty())
    }

    /// Deletes the journal of a grading in which there is not even a line, as on a full disk.
    pub fn delete_empty_grading(&self, path: &Path) {
        if std::fs::read(path).is_ok_and(|bytes| !bytes.contains(&b'\n')) {
            // Nothing is lost with it, and nobody can do anything about it.
            drop(std::fs::remove_file(path));
        }
    }

    /// The grading that was just written.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn grading(&self, path: &Path, journal: &Journal, each: impl FnMut(&Entry)) -> Result<Grading, StoreError> {
        Grading::read(path, journal.file(), self.redactor.clone(), each)
    }
}

impl Grading {
    fn read(
        path: &Path,
        file: Arc<File>,
        redactor: Option<Redactor>,
        mut each: impl FnMut(&Entry),
    ) -> Result<Grading, StoreError> {
        io::Seek::rewind(&mut &*file).map_err(|source| unreadable(path, source))?;
        let mut grading = Grading {
            path: path.to_path_buf(),
            file: file.clone(),
            redactor: redactor.clone(),
            judge: String::new(),
            is_whole: false,
            has_failures: false,
            places: LinePlaces::default(),
        };
        let (mut entries, mut places) = (Entries::new(BufReader::new(&*file)), LinePlaces::default());
        entries.redactor = redactor;
        while let Some(entry) = entries.next() {
            match &entry {
                Entry::GradingStarted { judge, .. } => grading.judge.clone_from(judge),
                Entry::RunFinished { interrupted, .. } => grading.is_whole = !interrupted,
                Entry::Judged { judgement, .. } => {
                    grading.has_failures |= matches!(judgement.reply, Observed::Failed(_));
                }
                _ => {}
            }
            if let Some(trial) = entry.trial() {
                places.add(trial, entries.span);
            }
            each(&entry);
        }
        match entries.failure.take() {
            Some(source) => Err(unreadable(path, source)),
            None => Ok(Grading { places: places.by_trial(), ..grading }),
        }
    }

    /// Reads the questions and replies about one conversation.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn regraded(&self, trial: u32) -> Result<Regraded, StoreError> {
        let (mut regraded, mut placed, mut last) = (Regraded::default(), Vec::new(), 0);
        let unreadable = |source| unreadable(&self.path, source);
        for span in self.places.of(trial) {
            for entry in entries_at(&self.file, span, self.redactor.as_ref()).map_err(unreadable)? {
                match entry.map_err(unreadable)? {
                    Entry::ModelAsked { call, .. } => {
                        regraded.calls.extend(Some(call).filter(|call| call.usage.calls > 0));
                    }
                    Entry::Judged { question: Some(question), judgement, place, .. } => {
                        // One without a place is behind those before it.
                        last = place.unwrap_or(last);
                        placed.push((last, (*question, judgement)));
                    }
                    _ => {}
                }
            }
        }
        // Of questions and judges that are asked at the same time, any is answered first.
        placed.sort_by_key(|(place, _)| *place);
        regraded.judgements = placed.into_iter().map(|(_, answered)| answered).collect();
        regraded.calls.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
        Ok(regraded)
    }
}
