//! A journal that is being written, added up meanwhile: nobody has to read it back to show the run.

use std::borrow::Cow;
use std::io;

use crate::record::{Entry, Fold, Overview};
use crate::report::Gathered;
use crate::store::folder::Journal;

/// A journal, and what its entries come to.
pub(super) struct Kept {
    journal: Journal,
    /// `None` before the first entry.
    fold: Option<Fold>,
    gathered: Gathered,
}

impl Kept {
    /// Of a journal without entries.
    pub(super) fn new(journal: Journal) -> Kept {
        Kept { journal, fold: None, gathered: Gathered::default() }
    }

    /// Keeps an entry; what is added up is what was written, without secrets.
    pub(super) fn append(&mut self, entry: Entry) -> io::Result<()> {
        let cleared = match self.journal.append(&entry)? {
            Cow::Owned(cleared) => Some(cleared),
            Cow::Borrowed(_) => None,
        };
        let entry = cleared.unwrap_or(entry).without_texts();
        match &mut self.fold {
            None => self.fold = Fold::begin(entry),
            Some(fold) => {
                if let Some((group, trial)) = fold.take(entry) {
                    self.gathered.add(group, &trial);
                }
            }
        }
        Ok(())
    }

    /// The journal.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The whole run; `None` where nothing was appended.
    pub(super) fn end(self) -> Option<(Overview, Gathered)> {
        let mut gathered = self.gathered;
        let overview = self.fold?.end(|group, trial| gathered.add(group, &trial));
        Some((overview, gathered))
    }
}
