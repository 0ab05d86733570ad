//! Whether the persona fails in one place again and again, so that conversations would be held again for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::plan::Trial;

/// In how many trials the same has to go wrong in the same place, with no conversation that got through.
const LEAST: usize = 3;

/// The conversations of a whole run, or those of a case in one condition.
type FailureScope = Option<String>;

/// Where the persona failed, in all conversations of a run and in those of each case.
#[derive(Debug, Default)]
pub(super) struct StuckPersona(Mutex<SeenFailures>);

#[derive(Debug, Default)]
struct SeenFailures {
    /// The trials, as many as are needed, by the place in which they failed.
    failed: BTreeMap<(FailureScope, String), BTreeSet<u32>>,
    got_through: BTreeSet<FailureScope>,
    /// Where the conversation of a trial failed that is not yet over.
    last: BTreeMap<u32, String>,
}

fn scopes(trial: &Trial) -> [FailureScope; 2] {
    [None, Some(format!("{}/{}", trial.id.case, trial.id.condition.as_str()))]
}

impl StuckPersona {
    /// A conversation of a trial failed in this place: the turn, and what was wrong there.
    pub(super) fn failed(&self, trial: &Trial, place: String) {
        self.seen().last.insert(trial.id.number, place);
    }

    /// A conversation of a trial ran to its end.
    pub(super) fn got_through(&self, trial: &Trial) {
        self.seen().got_through.extend(scopes(trial));
    }

    /// Whether a trial that failed just now would fail again: so many did in the same place, and none got through.
    pub(super) fn is_stuck(&self, trial: &Trial) -> bool {
        let mut seen = self.seen();
        let Some(place) = seen.last.remove(&trial.id.number) else { return false };
        let mut is_stuck = false;
        for scope in scopes(trial) {
            let has_way = seen.got_through.contains(&scope);
            let failed = seen.failed.entry((scope, place.clone())).or_default();
            if failed.len() < LEAST {
                failed.insert(trial.id.number);
            }
            is_stuck |= failed.len() >= LEAST && !has_way;
        }
        is_stuck
    }

    fn seen(&self) -> MutexGuard<'_, SeenFailures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
