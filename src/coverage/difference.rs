//! Two coverages beside each other.

use serde::Serialize;

use super::{Coverage, Item};

/// What an earlier suite touched and this one does not, and the other way round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Touched before, and now not, or not even known.
    pub lost: Vec<Item>,
    /// Touched now, and not before.
    pub gained: Vec<Item>,
}

/// Compares a coverage with an earlier one.
pub fn difference(before: &Coverage, now: &Coverage) -> Difference {
    let missing_from = |these: &Coverage, those: &Coverage| {
        let covered = |coverage: &Coverage, item: &Item| coverage.items.get(item).is_some_and(|it| it.is_covered);
        these.items.keys().filter(|item| covered(these, item) && !covered(those, item)).cloned().collect()
    };
    Difference { lost: missing_from(before, now), gained: missing_from(now, before) }
}
