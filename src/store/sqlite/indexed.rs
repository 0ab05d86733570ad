//! Run folders with their index.

use std::cell::{OnceCell, RefCell};

use chrono::{DateTime, Utc};

use super::run_index::{Indexed, IndexedRun};
use super::{IndexTrouble, Listing, RunIndex, Stamp};
use crate::record::{ListedRun, RunFigures};
use crate::store::Store;
use crate::store::folder::{JournalFile, KeptRun, NewRun, RunsFolder, StoreError};

/// An index is made where there are so many runs: fewer folders are read as fast as a database is opened.
pub const MANY: usize = 20;

/// The folder of all runs, of which many are listed by their index.
#[derive(Debug)]
pub struct IndexedRuns {
    folder: RunsFolder,
    /// The index, once it was asked for.
    index: OnceCell<Option<RefCell<RunIndex>>>,
    trouble: RefCell<Option<IndexTrouble>>,
}

impl IndexedRuns {
    /// The runs of this folder.
    pub fn new(folder: RunsFolder) -> IndexedRuns {
        IndexedRuns { folder, index: OnceCell::new(), trouble: RefCell::default() }
    }

    /// The folder of the runs.
    pub fn folder(&self) -> &RunsFolder {
        &self.folder
    }

    /// Why the index was of no use so far, where it was not. Returned once.
    pub fn take_trouble(&self) -> Option<IndexTrouble> {
        self.trouble.take()
    }

    /// The figures of all runs, oldest first; an error in place of those of one that can't be read.
    ///
    /// # Errors
    /// There are no runs, or the folder can't be read.
    pub fn figures(&self) -> Result<Listing<'_, RunFigures>, StoreError> {
        Ok(Listing::new(self, self.folder.names()?))
    }

    /// The runs that are wanted, oldest first; an error in place of one that can't be read. Of the others no more is read than a
    /// list shows, and of those that are indexed as they are no folder is opened.
    ///
    /// # Errors
    /// There are no runs, or the folder can't be read.
    pub fn history(
        &self,
        mut is_wanted: impl FnMut(&ListedRun) -> bool,
    ) -> Result<impl Iterator<Item = Result<KeptRun, StoreError>>, StoreError> {
        let names = self.folder.names()?;
        let is_indexed = self.is_worth_indexing(&names);
        let listed = Listing::<ListedRun>::new(self, names.clone()).zip(names);
        Ok(listed.filter_map(move |(run, name)| match run {
            Ok(run) if !is_wanted(&run) => None,
            Ok(_) => Some(self.kept(&name, is_indexed)),
            Err(error) => Some(Err(error)),
        }))
    }

    /// Whether these runs are so many that an index is worth its while, or have one.
    pub(super) fn is_worth_indexing(&self, names: &[String]) -> bool {
        names.len() >= MANY || RunIndex::is_in(self.folder.path())
    }

    fn kept(&self, name: &str, is_indexed: bool) -> Result<KeptRun, StoreError> {
        let stamp = if is_indexed { self.stamp(name) } else { None };
        let known = stamp.and_then(|stamp| self.indexed::<RunFigures>(name, stamp));
        let figures = match known.filter(|figures| figures.tells_passes) {
            Some(figures) => figures,
            None => self.folder.whole_figures_of(name)?,
        };
        Ok(KeptRun::new(figures, self.folder.path().join(name)))
    }

    /// Indexes the run in the folder of this name, which has just ended, where there is an index or are many runs.
    pub fn add(&self, name: &str) {
        let is_wanted = || self.folder.names().is_ok_and(|names| names.len() >= MANY);
        if !RunIndex::is_in(self.folder.path()) && !is_wanted() {
            return;
        }
        // Listing reports a run that can't be read.
        if let (Some(stamp), Ok(figures)) = (self.stamp(name), self.folder.figures_of(name)) {
            self.write(&[IndexedRun { folder: name.to_owned(), stamp, figures }]);
        }
    }

    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        Stamp::read(&self.folder.path().join(name))
    }

    /// A run by its index; `None` where it is not indexed as it is.
    pub(super) fn indexed<T: Indexed>(&self, name: &str, stamp: Stamp) -> Option<T> {
        self.using(|index| index.read(name, stamp)).flatten()
    }

    pub(super) fn write(&self, runs: &[IndexedRun]) {
        if !runs.is_empty() {
            self.using(|index| index.write(runs));
        }
    }

    /// Removes what is not in one of these folders, which are in order.
    pub(super) fn keep_only(&self, names: &[&str]) {
        self.using(|index| index.keep_only(names));
    }

    /// Does something with the index, as long as there is no trouble with it.
    fn using<T>(&self, with: impl FnOnce(&mut RunIndex) -> Result<T, IndexTrouble>) -> Option<T> {
        let open = || match RunIndex::open(self.folder.path()) {
            Ok(index) => Some(RefCell::new(index)),
            Err(trouble) => {
                self.trouble.replace(Some(trouble));
                None
            }
        };
        let index = self.index.get_or_init(open).as_ref().filter(|_| self.trouble.borrow().is_none())?;
        let done = with(&mut index.borrow_mut());
        done.map_err(|trouble| self.trouble.replace(Some(trouble))).ok()
    }
}

impl Store for IndexedRuns {
    type NewRun = NewRun;
    type Run = JournalFile;

    fn create(&self, job: &str, at: DateTime<Utc>, rng: &mut fastrand::Rng) -> Result<NewRun, StoreError> {
        self.folder.create(job, at, rng)
    }

    fn runs(&self) -> Result<impl Iterator<Item = Result<ListedRun, StoreError>>, StoreError> {
        Ok(Listing::<ListedRun>::new(self, self.folder.names()?))
    }

    fn open(&self, id: Option<&str>) -> Result<JournalFile, StoreError> {
        self.folder.open(id)
    }
}
