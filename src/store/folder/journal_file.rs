//! A run in its folder, which is read from its journal.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::{Entries, first_line, has_ended};
use super::line_places::LinePlaces;
use super::runs::JOURNAL;
use super::{Journal, StoreError, summary};
use crate::record::{ListedRun, PlannedTrials, RunPrices, RunSummary};
use crate::secret::Redactor;
use crate::store::StoredRun;

/// A run that is read from its journal, which is there whatever happened to the run.
#[derive(Debug)]
pub struct JournalFile {
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    pub(super) file: Arc<File>,
    pub(super) redactor: Option<Redactor>,
    /// The prices by which it is read, instead of those of the journal.
    pub(super) prices: Option<RunPrices>,
    /// The trials by their numbers.
    pub(super) plan: Arc<PlannedTrials>,
    /// Their lines.
    pub(super) places: LinePlaces,
    /// How many repetitions there are, where not all that were planned are run.
    pub(super) repeats: Option<u32>,
    pub(super) lines: usize,
    /// Whether its first line could not be read.
    pub(super) is_headless: bool,
    /// The job that it was made with, if that was kept.
    pub job: Option<Box<serde_json::Value>>,
    /// The templates of its prompts, if those were kept.
    pub templates: BTreeMap<String, String>,
    /// The damage of the journal, if there is any.
    pub note: Option<String>,
    /// The damage of people's labels, if there is any.
    pub damaged_labels: Option<String>,
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
        JournalFile { lines: journal.lines(), ..JournalFile::new(folder, journal.file()) }
    }

    pub(super) fn new(folder: &Path, file: Arc<File>) -> JournalFile {
        let (folder, path) = (folder.to_path_buf(), folder.join(JOURNAL));
        JournalFile {
            folder,
            path,
            file,
            redactor: None,
            prices: None,
            plan: Arc::default(),
            places: LinePlaces::default(),
            repeats: None,
            lines: 0,
            is_headless: false,
            job: None,
            templates: BTreeMap::new(),
            note: None,
            damaged_labels: None,
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

    /// The same, with what was spent at these prices, as far as they are known.
    pub fn with_prices(self, prices: RunPrices) -> JournalFile {
        JournalFile { prices: Some(prices), ..self }
    }

    /// The same, read as it stands there.
    pub fn without_redactor(self) -> JournalFile {
        JournalFile { redactor: None, ..self }
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

    /// How it began, as its first line says; as a list shows it where that can't be read.
    pub(super) fn begun(self) -> Result<ListedRun, StoreError> {
        match first_line(&self.file).filter(ListedRun::is_readable) {
            Some(run) => Ok(run),
            None => self.listed(),
        }
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

    /// Writes another verdict beside the first: `grade-1.json`, by its number. Returns where.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write_grading(&self, number: u32, summary: &RunSummary) -> Result<PathBuf, StoreError> {
        let name = format!("grade-{number}.json");
        summary::write(&self.folder, &name, summary, self.lines)?;
        Ok(self.folder.join(name))
    }

    /// Whether the journal had more lines when the run ended than these, which were read.
    pub(super) fn has_lost_lines<R>(&self, entries: &Entries<R>) -> bool {
        summary::journal_lines(&self.folder).is_some_and(|before| before > entries.read)
    }

    /// The damage of a journal of which these lines were read, in a sentence.
    pub(super) fn trouble<R>(&self, entries: &Entries<R>) -> Option<String> {
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
            (None, _, Some(before)) if before > entries.read => Some(format!(
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

pub(super) fn unreadable(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { doing: "could not read", path: path.to_path_buf(), source }
}
