//! Puts a journal's entries together, trial by trial.

use std::collections::BTreeMap;

use super::{Entry, Overview, TrialRecord};
use crate::evidence::TrialId;

/// Puts a journal's entries together: a trial is held from its first entry to its last, and nothing of it after that.
#[derive(Debug)]
pub struct Fold {
    overview: Overview,
    /// Those of which nothing has come yet, by number.
    to_come: BTreeMap<u32, TrialId>,
    open: BTreeMap<u32, TrialRecord>,
    /// How often trials are still held again, by number.
    restarts: BTreeMap<u32, u32>,
}

impl Fold {
    /// Of a journal that begins with this entry; `None` if it is not a beginning.
    pub fn begin(entry: Entry) -> Option<Fold> {
        let (overview, trials) = Overview::begin(entry)?;
        let to_come = trials.into_iter().map(|trial| (trial.number, trial)).collect();
        Some(Fold { overview, to_come, open: BTreeMap::new(), restarts: BTreeMap::new() })
    }

    /// The same, where it is known how often each of these trials is held again: one that is over is not over as long as it is
    /// held again later. See [`Entry::TrialRestarted`].
    pub fn with_restarts(self, restarts: BTreeMap<u32, u32>) -> Fold {
        Fold { restarts, ..self }
    }

    /// Takes in the next entry; returns the trial that is over with it, and the place of its group. An entry of a trial
    /// that the run does not have is passed over.
    pub fn take(&mut self, entry: Entry) -> Option<(usize, TrialRecord)> {
        let Some(number) = entry.trial() else {
            self.overview.apply(entry);
            return None;
        };
        if let Some(trial) = self.to_come.remove(&number) {
            self.open.insert(number, TrialRecord::planned(trial));
        }
        if matches!(entry, Entry::TrialRestarted { .. })
            && let Some(left) = self.restarts.get_mut(&number)
        {
            *left = left.saturating_sub(1);
        }
        let is_held_again = self.restarts.get(&number).is_some_and(|left| *left > 0);
        let is_last = matches!(entry, Entry::TrialFinished { .. }) && !is_held_again;
        self.open.get_mut(&number)?.apply(entry);
        let over = if is_last { self.open.remove(&number) } else { None }?;
        Some((self.overview.add(&over), over))
    }

    /// All that is known of the run so far.
    pub fn overview(&self) -> &Overview {
        &self.overview
    }

    /// Lines of the journal are not as they were written, or missing: nobody can say any more that all is well.
    pub fn damaged(&mut self) {
        self.overview.is_damaged = true;
    }

    /// The journal has ended. The trials that are not over are handed out, in the order of the plan.
    pub fn end(mut self, mut each: impl FnMut(usize, TrialRecord)) -> Overview {
        self.open.extend(self.to_come.into_iter().map(|(number, trial)| (number, TrialRecord::planned(trial))));
        for trial in self.open.into_values() {
            each(self.overview.add(&trial), trial);
        }
        self.overview.conclude();
        self.overview
    }
}

/// How often each trial is held again in these entries: see [`Fold::with_restarts`].
pub fn restarts<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> BTreeMap<u32, u32> {
    let mut restarts = BTreeMap::new();
    for entry in entries {
        if let Entry::TrialRestarted { trial, .. } = entry {
            *restarts.entry(*trial).or_default() += 1;
        }
    }
    restarts
}
