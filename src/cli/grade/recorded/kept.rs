//! A journal that is being written, folded meanwhile, so that it need not be read back to show the run.

use std::borrow::Cow;
use std::io;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::job::Case;
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

/// [`Entry::TrialStarted`] with its case, which is as large as all else of a trial, written as it is at hand.
#[derive(Serialize)]
struct CaseStarted<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    case: &'a Case,
}

impl Kept {
    /// A run whose journal has no entries yet.
    pub(super) fn new(journal: Journal) -> Kept {
        Kept { journal, fold: None, gathered: Gathered::default() }
    }

    /// Keeps an entry; what is added up is what was written, without secrets.
    pub(super) fn append(&mut self, entry: Entry) -> io::Result<()> {
        let cleared = match self.journal.append(&entry)? {
            Cow::Owned(cleared) => Some(cleared),
            Cow::Borrowed(_) => None,
        };
        self.add_up(cleared.unwrap_or(entry).without_texts());
        Ok(())
    }

    /// Keeps that a trial begins, with its case where the job does not hold it.
    pub(super) fn begin(&mut self, trial: u32, at: DateTime<Utc>, case: Option<&Case>) -> io::Result<()> {
        let entry = Entry::TrialStarted { trial, at, case: None };
        let Some(case) = case else { return self.append(entry) };
        self.journal.append_written(&CaseStarted { entry: &entry, case })?;
        self.add_up(entry);
        Ok(())
    }

    fn add_up(&mut self, entry: Entry) {
        match &mut self.fold {
            None => self.fold = Fold::begin(entry),
            Some(fold) => {
                if let Some((group, trial)) = fold.take(entry) {
                    self.gathered.add(group, &trial);
                }
            }
        }
    }

    /// The run's id; `None` before the first entry.
    pub(super) fn id(&self) -> Option<&str> {
        self.fold.as_ref().map(|fold| fold.overview().summary.id.as_str())
    }

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_case_is_written_as_in_the_entry_that_holds_it() {
        let line =
            json!({"say": "Hi", "expected": {"calls": [{"tool": "look", "args": {"a": 1.5}}], "reply": "Hello"}});
        let case: Case = serde_json::from_value(json!({"id": "a", "script": ["Hello", line]})).unwrap();
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let held = Entry::TrialStarted { trial: 2, at, case: Some(Box::new(serde_json::to_value(&case).unwrap())) };
        let entry = Entry::TrialStarted { trial: 2, at, case: None };
        let written = serde_json::to_string(&CaseStarted { entry: &entry, case: &case }).unwrap();
        assert_eq!(written, serde_json::to_string(&held).unwrap());
    }
}
