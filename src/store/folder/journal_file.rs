//! A run that is read from its journal: once from end to end, then trial by trial.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::{Entries, LineSpan, entry_at, first_line, has_ended};
use super::runs::JOURNAL;
use super::{Journal, StoreError, summary};
use crate::evidence::{Condition, TrialId};
use crate::record::{
    Entry, FORMAT_VERSION, Fold, ListedProvenance, ListedRun, Overview, Provenance, RunSummary, TrialRecord, Verdict,
};
use crate::secret::Redactor;
use crate::store::StoredRun;

/// A run that is read from its journal, which is there whatever happened to the run.
#[derive(Debug)]
pub struct JournalFile {
    folder: PathBuf,
    path: PathBuf,
    file: Arc<File>,
    redactor: Option<Redactor>,
    /// The trials by their numbers, each with its lines.
    trials: BTreeMap<u32, (TrialId, Vec<LineSpan>)>,
    lines: usize,
    /// Whether its first line could not be read.
    is_headless: bool,
    /// The job that it was held with, if that was kept.
    pub job: Option<Box<serde_json::Value>>,
    /// The templates of its prompts, if those were kept.
    pub templates: BTreeMap<String, String>,
    /// The damage of the journal, if there is any.
    pub note: Option<String>,
}

impl JournalFile {
    /// The journal in a run's folder.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn open(folder: &Path) -> Result<JournalFile, StoreError> {
        let path = folder.join(JOURNAL);
        let file = File::open(&path).map_err(|source| unreadable(&path, source))?;
        Ok(JournalFile::new(folder, Arc::new(file)))
    }

    /// The journal that was just written, by its open descriptor: the folder may have been moved since.
    pub fn from_journal(folder: &Path, journal: &Journal) -> JournalFile {
        JournalFile::new(folder, journal.file())
    }

    fn new(folder: &Path, file: Arc<File>) -> JournalFile {
        let (folder, path) = (folder.to_path_buf(), folder.join(JOURNAL));
        JournalFile {
            folder,
            path,
            file,
            redactor: None,
            trials: BTreeMap::new(),
            lines: 0,
            is_headless: false,
            job: None,
            templates: BTreeMap::new(),
            note: None,
        }
    }

    /// Whether the journal that is open was deleted, rather than moved with its folder.
    pub fn is_deleted(&self) -> bool {
        #[cfg(unix)]
        let is_deleted =
            self.file.metadata().is_ok_and(|metadata| std::os::unix::fs::MetadataExt::nlink(&metadata) == 0);
        #[cfg(not(unix))]
        let is_deleted = false;
        is_deleted
    }

    /// The same; what this redactor knows is cleared from all that is read: from runs that were kept before keys were
    /// cleared.
    pub fn with_redactor(self, redactor: Redactor) -> JournalFile {
        JournalFile { redactor: Some(redactor), ..self }
    }

    /// The run as a list shows it, where there is no summary. One that goes on or was killed has no figure, and its first
    /// line says the rest; one that has ended, kept by an earlier version, is added up and gets its summary.
    pub(super) fn listed(mut self) -> Result<ListedRun, StoreError> {
        if !has_ended(&self.file)
            && let Some(run) = first_line(&self.file).filter(ListedRun::is_readable)
        {
            return Ok(run);
        }
        let summary = self.read(|_, _| ())?.summary;
        if self.note.is_none() {
            // Without it the next list takes as long.
            let _ = self.write_summary(&summary);
        }
        Ok(ListedRun::from(&summary))
    }

    /// Writes `summary.json` beside the journal.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write_summary(&self, summary: &RunSummary) -> Result<(), StoreError> {
        summary::write(&self.folder, summary::SUMMARY, summary, self.lines)
    }

    /// Where the journal is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The redactor of all that is read.
    pub(super) fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// Writes another verdict beside the first: `grade-1.json`, by its number. Returns where.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write_grading(&self, number: u32, summary: &RunSummary) -> Result<PathBuf, StoreError> {
        let name = format!("grade-{number}.json");
        summary::write(&self.folder, &name, summary, self.lines)?;
        Ok(self.folder.join(name))
    }

    fn trial(&self, id: &TrialId, spans: &[LineSpan]) -> io::Result<TrialRecord> {
        let mut trial = TrialRecord::planned(id.clone());
        for span in spans {
            trial.apply(entry_at(&self.file, *span, self.redactor.as_ref())?);
        }
        Ok(trial)
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
        let ListedProvenance { job, job_file, selection, models } = known;
        let provenance = Provenance { job, job_file, selection, models, ..Provenance::default() };
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

    /// The damage of a journal of which these lines were read, in a sentence.
    fn trouble<R>(&self, entries: &Entries<R>) -> Option<String> {
        let before = summary::journal_lines(&self.folder);
        match (&entries.damaged, entries.cut_off, before) {
            (Some((line, why)), _, _) => {
                let left_out = match entries.left_out {
                    0 => String::new(),
                    1 => "; 1 line is left out".to_owned(),
                    several => format!("; {several} lines are left out"),
                };
                let headless = match self.is_headless {
                    true => {
                        "; which case, model and condition a conversation was of stood in its first line, and isn't known"
                    }
                    false => "",
                };
                Some(format!("line {line} of the journal is damaged ({why}){left_out}{headless}"))
            }
            (None, 0, Some(before)) if before > entries.read => Some(format!(
                "the journal ends with line {}, and had {before} when the run ended: what followed was deleted",
                entries.read
            )),
            (None, 0, _) => None,
            (None, bytes, _) => {
                Some(format!("the journal's last line was cut off after {bytes} bytes; it is left out"))
            }
        }
    }
}

impl StoredRun for JournalFile {
    fn read(&mut self, mut each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError> {
        let file = self.file.clone();
        (&*file).seek(SeekFrom::Start(0)).map_err(|source| unreadable(&self.path, source))?;
        let mut entries = Entries::new(BufReader::with_capacity(1 << 16, &*file));
        entries.redactor = self.redactor.clone();
        let (mut fold, mut next) = (None, entries.next());
        let first = match next.take_if(|first| matches!(first, Entry::RunStarted { .. })) {
            None if entries.damaged.is_some() => {
                let first = self.stand_in().map_err(|source| unreadable(&self.path, source))?;
                self.is_headless = first.is_some();
                first
            }
            first => first,
        };
        if let Some(first) = first {
            if let Entry::RunStarted { trials, job, templates, .. } = &first {
                self.job.clone_from(job);
                self.templates.clone_from(templates);
                self.trials = trials.iter().map(|trial| (trial.number, (trial.clone(), Vec::new()))).collect();
            }
            fold = Fold::begin(first);
        }
        if let Some(fold) = &mut fold {
            while let Some(entry) = next.take().or_else(|| entries.next()) {
                if let Some((_, spans)) = entry.trial().and_then(|number| self.trials.get_mut(&number)) {
                    spans.push(entries.span);
                }
                if let Some((group, trial)) = fold.take(entry.without_texts()) {
                    each(group, &trial);
                }
            }
        }
        if let Some(source) = entries.failure.take() {
            return Err(unreadable(&self.path, source));
        }
        self.lines = entries.read;
        self.note = self.trouble(&entries);
        let overview = fold.map(|fold| fold.end(|group, trial| each(group, &trial)));
        let newer = || entries.version().filter(|version| *version > FORMAT_VERSION);
        if let Some(version) = overview.as_ref().map(|it| it.summary.version).or_else(newer)
            && version > FORMAT_VERSION
        {
            let why = format!("it has format {version}, this eval-job reads up to {FORMAT_VERSION}");
            return Err(StoreError::Unreadable { path: self.path.clone(), why });
        }
        let mut overview = overview.ok_or_else(|| StoreError::Unreadable {
            path: self.path.clone(),
            why: (self.note.clone())
                .unwrap_or_else(|| "the journal is empty: the run was cut off before it began".to_owned()),
        })?;
        if entries.damaged.is_some() && overview.summary.verdict != Verdict::Interrupted {
            // Whatever was in those lines, nobody can say any more that all is well.
            overview.summary.verdict = Verdict::Incomplete;
        }
        Ok(overview)
    }

    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>> {
        self.trials.values().map(|(id, spans)| self.trial(id, spans).map_err(|source| unreadable(&self.path, source)))
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { doing: "could not read", path: path.to_path_buf(), source }
}
