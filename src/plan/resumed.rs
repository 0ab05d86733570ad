//! The trials that are left of a run that is resumed.

use std::collections::{HashMap, HashSet};

use super::{Lane, Plan, Trial};

/// The trials of an earlier run, as far as they are not simply to come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumedTrials {
    /// The numbers of those that are over and stay as they are.
    pub finished: HashSet<u32>,
    /// Trials that were begun and are run again, by their numbers.
    pub begun: HashMap<u32, BegunTrial>,
}

/// A trial that was begun before and is run again from its setups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BegunTrial {
    /// How often the persona did not play its part in it.
    pub attempt: u32,
    /// How many of its conversations were cut off or broke.
    pub restart: u32,
}

impl ResumedTrials {
    /// Whether a trial was begun, or is over.
    pub(super) fn was_begun(&self, trial: &Trial) -> bool {
        let number = &trial.id.number;
        self.finished.contains(number) || self.begun.contains_key(number)
    }

    /// The trial as it is still to be run; `None` for one that is over.
    pub(super) fn remaining(&self, trial: Trial) -> Option<Trial> {
        let number = trial.id.number;
        match self.begun.get(&number) {
            Some(BegunTrial { attempt, restart }) => {
                Some(Trial { attempt: *attempt, restart: Some(*restart), ..trial })
            }
            None => (!self.finished.contains(&number)).then_some(trial),
        }
    }
}

impl Plan {
    /// The lanes of [`Plan::lanes`] with the trials alone that are left of an earlier run.
    pub fn lanes_after(&self, held: ResumedTrials) -> Box<dyn Iterator<Item = Lane> + Send> {
        let left = self.trials().filter_map(move |trial| held.remaining(trial));
        match self.share_state() {
            true => Box::new(std::iter::once(Lane::new(left))),
            false => Box::new(left.map(|trial| Lane::new(std::iter::once(trial)))),
        }
    }
}
