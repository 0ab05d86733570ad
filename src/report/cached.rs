//! How many verdicts were kept of an earlier run, in words.

use super::count;
use crate::record::{CachedVerdicts, Overview};

/// `12 of 30 verdicts from the cache`; `None` where none is.
pub(super) fn cached_text(run: &Overview) -> Option<String> {
    let CachedVerdicts { all, cached } = run.verdicts;
    (cached > 0).then(|| format!("{cached} of {} from the cache", count(all, "verdict")))
}
