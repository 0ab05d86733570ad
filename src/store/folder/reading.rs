//! Reading a run's journal: once from end to end, then trial by trial.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::sync::Arc;

use super::entries::{Entries, entries_at, later};
use super::journal_file::unreadable;
use super::line_places::LinePlaces;
use super::{JournalFile, StoreError, summary};
use crate::evidence::{Condition, TrialId};
use crate::record::{
    Entry, FORMAT_VERSION, Fold, ListedProvenance, Overview, PlannedTrials, Provenance, RunEnd, RunSummary, TrialRecord,
};
use crate::store::StoredRun;

/// Which parts of a run are read.
#[derive(Debug, Clone, Copy)]
struct FoldOptions {
    /// The texts of its trials.
    texts: bool,
    /// Where each trial stands in the journal, so that it can be read again.
    places: bool,
}

/// The beginning of a journal: the overview of its run, and the entry that was read in its place, where there is none.
type JournalBeginning = (Option<Fold>, Option<Entry>);

impl JournalFile {
    /// The run as it was planned: an overview without trials. Its job and templates are known then.
    ///
    /// # Errors
    /// As those of [`StoredRun::read`].
    pub fn planned(&mut self) -> Result<Overview, StoreError> {
        let file = self.file.clone();
        match self.begin(&mut self.entries(&file)?, FoldOf::Whole)? {
            (Some(fold), _) if fold.overview().summary.is_readable() => Ok(fold.overview().clone()),
            _ => Ok(self.read(|_, _| ())?.without_trials()),
        }
    }

    /// The same without groups: the summary as the run began, and its trials as they were planned.
    ///
    /// # Errors
    /// As those of [`StoredRun::read`].
    pub fn planned_trials(&mut self) -> Result<(RunSummary, Arc<PlannedTrials>), StoreError> {
        let file = self.file.clone();
        match self.begin(&mut self.entries(&file)?, FoldOf::Trials)? {
            (Some(fold), _) if fold.overview().summary.is_readable() => {
                Ok((fold.overview().summary.clone(), Arc::clone(fold.plan())))
            }
            _ => {
                let overview = self.read(|_, _| ())?.without_trials();
                Ok((overview.summary, Arc::clone(&self.plan)))
            }
        }
    }

    /// Reads it once for its trials alone, with their texts or without them, in the order in which they ended; no trial and not its job can
    /// be asked for afterwards, and nothing is held of those that are over.
    ///
    /// # Errors
    /// As those of [`StoredRun::read`].
    pub fn read_trials(&mut self, texts: bool, mut each: impl FnMut(&TrialRecord)) -> Result<RunEnd, StoreError> {
        let mut each = |_: usize, trial: TrialRecord| {
            each(&trial);
            Ok(())
        };
        let (fold, ended) = self.fold_entries(FoldOptions { texts, places: false }, FoldOf::Trials, &mut each)?;
        let mut open = OpenTrials { each: &mut each, failed: Ok(()) };
        let read = fold.map(|fold| fold.end_outline(|group, trial| open.take(group, trial)));
        open.failed?;
        self.check_read(read.as_ref().map(|(overview, _)| overview), &ended)?;
        read.map(|(_, end)| end).ok_or_else(|| self.nothing_read(&ended))
    }

    /// Reads it once, trial by trial in the order in which they ended; `each` is handed the trial with its texts. Only
    /// those are held that are not over.
    ///
    /// # Errors
    /// As those of [`StoredRun::read`], and those of `each`.
    pub fn read_with_texts(
        &mut self,
        mut each: impl FnMut(TrialRecord) -> Result<(), StoreError>,
    ) -> Result<Overview, StoreError> {
        self.fold(FoldOptions { texts: true, places: true }, &mut |_, trial| each(trial))
    }

    /// Reads it once, trial by trial in the order in which they ended, without texts and for the last time: no trial and not its job can be
    /// asked for afterwards, and less is held of each.
    ///
    /// # Errors
    /// As those of [`StoredRun::read`].
    pub fn read_through(&mut self, mut each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError> {
        self.fold(FoldOptions { texts: false, places: false }, &mut |group, trial| {
            each(group, &trial);
            Ok(())
        })
    }

    /// A beginning in place of one that can't be read: the numbers of the trials are in their entries, and the rest may be
    /// in `summary.json`. `None` where there are no trials either.
    fn stand_in(&self) -> io::Result<Option<Entry>> {
        let mut file = &*self.file;
        let place = file.stream_position()?;
        file.seek(SeekFrom::Start(0))?;
        let (mut numbers, mut began) = (BTreeSet::new(), None);
        for entry in Entries::new(BufReader::with_capacity(1 << 16, file)) {
            numbers.extend(entry.trial());
            if let Entry::TrialStarted { at, .. } = entry {
                began.get_or_insert(at);
            }
        }
        file.seek(SeekFrom::Start(place))?;
        let Some(at) = began else { return Ok(None) };
        let summary = summary::read(&self.folder);
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (id, known) = summary.map_or((name, ListedProvenance::default()), |it| (it.id, it.provenance));
        let ListedProvenance { job, job_file, selection, models, by_person, replayed } = known;
        let provenance = Provenance { job, job_file, selection, models, by_person, replayed, ..Provenance::default() };
        let model = provenance.models.first().cloned().unwrap_or_default();
        let trial = |number| TrialId {
            number,
            case: String::new(),
            model: model.clone(),
            condition: Condition::WithoutFacts,
            repeat: number,
        };
        Ok(Some(Entry::RunStarted {
            version: FORMAT_VERSION,
            id,
            at,
            provenance: Box::new(provenance),
            job: None,
            templates: BTreeMap::new(),
            trials: numbers.into_iter().map(trial).collect(),
        }))
    }

    /// Its first entry, if there is one that can be read.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn first_entry(&self) -> Result<Option<Entry>, StoreError> {
        let file = self.file.clone();
        let mut entries = self.entries(&file)?;
        let first = entries.next();
        match entries.failure.take() {
            Some(source) => Err(unreadable(&self.path, source)),
            None => Ok(first),
        }
    }

    /// Reads its entries one by one as they stand there, up to the first failure.
    ///
    /// # Errors
    /// When it can't be read, and those of `each`.
    pub fn each_entry<E: From<StoreError>>(&self, mut each: impl FnMut(Entry) -> Result<(), E>) -> Result<(), E> {
        let file = self.file.clone();
        let mut entries = self.entries(&file)?;
        for entry in entries.by_ref() {
            each(entry)?;
        }
        match entries.failure.take() {
            Some(source) => Err(unreadable(&self.path, source).into()),
            None => Ok(()),
        }
    }

    fn entries<'f>(&self, file: &'f File) -> Result<Entries<BufReader<&'f File>>, StoreError> {
        let mut entries = Entries::new(self.reader(file)?);
        entries.redactor = self.redactor.clone();
        Ok(entries)
    }

    fn reader<'f>(&self, mut file: &'f File) -> Result<BufReader<&'f File>, StoreError> {
        file.seek(SeekFrom::Start(0)).map_err(|source| unreadable(&self.path, source))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    }

    /// The trial of this number with its texts. [`StoredRun::read`] comes first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn trial_numbered(&self, number: u32) -> Result<Option<TrialRecord>, StoreError> {
        self.plan.numbered(number).filter(|id| self.has(id)).map(|id| self.trial(id)).transpose()
    }

    /// Whether a planned trial is one of the run's: what was planned beyond its repetitions is none, but what was begun of it.
    fn has(&self, id: &TrialId) -> bool {
        self.repeats.is_none_or(|repeats| id.repeat <= repeats) || self.places.of(id.number).next().is_some()
    }

    fn trial(&self, id: TrialId) -> Result<TrialRecord, StoreError> {
        let (number, mut trial) = (id.number, TrialRecord::planned(id));
        let mut read = |span| -> io::Result<()> {
            entries_at(&self.file, span, self.redactor.as_ref())?.try_for_each(|entry| {
                trial.apply(entry?);
                Ok(())
            })
        };
        self.places.of(number).try_for_each(&mut read).map_err(|source| unreadable(&self.path, source))?;
        trial.give_up_calls();
        Ok(trial)
    }

    fn begin<R: BufRead>(&mut self, entries: &mut Entries<R>, of: FoldOf) -> Result<JournalBeginning, StoreError> {
        let mut next = entries.next();
        let first = match next.take_if(|first| matches!(first, Entry::RunStarted { .. })) {
            None if entries.damaged.is_some() => {
                let first = self.stand_in().map_err(|source| unreadable(&self.path, source))?;
                self.is_headless = first.is_some();
                first
            }
            first => first,
        };
        let Some(first) = first else { return Ok((None, next)) };
        let mut first = first;
        if let Entry::RunStarted { job, templates, .. } = &mut first {
            (self.job, self.templates) = (job.take(), std::mem::take(templates));
        }
        let fold = match of {
            FoldOf::Whole => Fold::begin(first),
            FoldOf::Trials => Fold::outline(first),
        };
        self.plan = fold.as_ref().map(|fold| Arc::clone(fold.plan())).unwrap_or_default();
        Ok((fold, next))
    }

    /// Lets go of the job, its templates and the plan.
    fn forget_beginning(&mut self) {
        (self.job, self.plan) = (None, Arc::default());
        self.templates.clear();
    }

    fn fold(
        &mut self,
        options: FoldOptions,
        each: &mut dyn FnMut(usize, TrialRecord) -> Result<(), StoreError>,
    ) -> Result<Overview, StoreError> {
        let (fold, ended) = self.fold_entries(options, FoldOf::Whole, each)?;
        let mut open = OpenTrials { each, failed: Ok(()) };
        let overview = fold.map(|fold| fold.end(|group, trial| open.take(group, trial)));
        open.failed?;
        self.check_read(overview.as_ref(), &ended)?;
        overview.ok_or_else(|| self.nothing_read(&ended))
    }

    /// Takes in all entries. The fold is still to be ended.
    fn fold_entries(
        &mut self,
        options: FoldOptions,
        of: FoldOf,
        each: &mut dyn FnMut(usize, TrialRecord) -> Result<(), StoreError>,
    ) -> Result<(Option<Fold>, JournalEnd), StoreError> {
        let file = self.file.clone();
        let later = later(self.reader(&file)?).map_err(|source| unreadable(&self.path, source))?;
        let later = later.with_prices(self.prices.clone());
        let mut entries = self.entries(&file)?;
        if !options.places {
            // What `planned` has read of it: the first line is read again.
            self.forget_beginning();
        }
        let (fold, mut next) = self.begin(&mut entries, of)?;
        if !options.places {
            self.forget_beginning();
        }
        let mut fold = fold.map(|fold| fold.with_later(later));
        let (mut repeats, mut places) = (None, LinePlaces::default());
        if let Some(fold) = &mut fold {
            while let Some(entry) = next.take().or_else(|| entries.next()) {
                if let Some(number) = entry.trial().filter(|_| options.places) {
                    places.add(number, entries.span);
                }
                match &entry {
                    Entry::RepeatsEnded { ended, .. } => repeats = Some(ended.repeats),
                    Entry::RunResumed { .. } => repeats = None,
                    _ => {}
                }
                let entry = if options.texts { entry } else { entry.without_texts() };
                if let Some((group, trial)) = fold.take(entry) {
                    each(group, trial)?;
                }
            }
        }
        (self.repeats, self.places) = (repeats, places.by_trial());
        if let Some(source) = entries.failure.take() {
            return Err(unreadable(&self.path, source));
        }
        self.lines = entries.read;
        self.note = self.trouble(&entries);
        if entries.damaged.is_some() || self.has_lost_lines(&entries) {
            fold.iter_mut().for_each(Fold::damaged);
        }
        let (is_damaged, is_cut_off) = (entries.damaged.is_some(), entries.cut_off > 0);
        let newer = if fold.is_none() { entries.version() } else { None };
        Ok((fold, JournalEnd { is_damaged, is_cut_off, version: newer }))
    }

    /// Checks that this version can read what was read.
    fn check_read(&self, overview: Option<&Overview>, ended: &JournalEnd) -> Result<(), StoreError> {
        let version = overview.map(|it| it.summary.version).or(ended.version);
        match version.filter(|version| *version > FORMAT_VERSION) {
            Some(version) => {
                let why = format!("it has format {version}, this eval-job reads up to {FORMAT_VERSION}");
                Err(StoreError::Unreadable { path: self.path.clone(), why })
            }
            None => Ok(()),
        }
    }

    /// Why there is no run in the journal.
    fn nothing_read(&self, ended: &JournalEnd) -> StoreError {
        let path = self.path.clone();
        match &self.note {
            Some(why) if ended.is_damaged => StoreError::Unreadable { path, why: why.clone() },
            Some(_) if ended.is_cut_off => {
                StoreError::NothingLeft { path, why: "the journal was cut off within its first line".to_owned() }
            }
            _ if self.is_being_written() => StoreError::JustBegun(path),
            _ => {
                let why = "the journal is empty, the run was cut off before it began".to_owned();
                StoreError::NothingLeft { path, why }
            }
        }
    }
}

/// What is held of a run that is read.
#[derive(Debug, Clone, Copy)]
enum FoldOf {
    /// All that an overview holds.
    Whole,
    /// Whether it is complete: its trials are what is wanted.
    Trials,
}

/// How the reading of a journal ended.
struct JournalEnd {
    is_damaged: bool,
    is_cut_off: bool,
    /// The version in the line read last, where there is no run.
    version: Option<u32>,
}

/// Hands on the trials that are not over, up to the first failure.
struct OpenTrials<'a> {
    each: &'a mut dyn FnMut(usize, TrialRecord) -> Result<(), StoreError>,
    failed: Result<(), StoreError>,
}

impl OpenTrials<'_> {
    fn take(&mut self, group: usize, trial: TrialRecord) {
        if self.failed.is_ok() {
            self.failed = (self.each)(group, trial);
        }
    }
}

impl JournalFile {
    /// Whether another process holds the journal, as one does that writes it.
    pub fn is_being_written(&self) -> bool {
        is_locked(&self.path)
    }
}

/// Whether another process holds a lock on a journal.
pub(super) fn is_locked(journal: &std::path::Path) -> bool {
    let file = std::fs::File::open(journal);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

impl StoredRun for JournalFile {
    fn read(&mut self, mut each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError> {
        self.fold(FoldOptions { texts: false, places: true }, &mut |group, trial| {
            each(group, &trial);
            Ok(())
        })
    }

    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>> {
        self.plan.iter().filter(|id| self.has(id)).map(|id| self.trial(id))
    }
}
