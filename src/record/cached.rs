//! How many verdicts of a run were kept of an earlier one.

use super::TrialRecord;
use crate::evidence::Observed;

/// How many verdicts there are, and how many of them come from the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CachedVerdicts {
    /// All usable replies of judges.
    pub all: usize,
    /// Replies from the cache, which cost nothing.
    pub cached: usize,
}

impl CachedVerdicts {
    /// Takes in a trial.
    pub(super) fn add(&mut self, trial: &TrialRecord) {
        let usable = trial.judgements.iter().filter(|judgement| matches!(judgement.reply, Observed::Seen(_)));
        for judgement in usable {
            self.all += 1;
            self.cached += usize::from(judgement.is_cached);
        }
    }
}
