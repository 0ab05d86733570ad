//! Two coverages beside each other.

use serde::Serialize;

use super::{Coverage, CoverageItem};

/// The difference in coverage between an earlier suite and this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoverageDifference {
    /// Touched before, and now not, or not even known.
    pub lost: Vec<CoverageItem>,
    /// Touched now, and not before.
    pub gained: Vec<CoverageItem>,
}

/// Compares a coverage with an earlier one.
pub fn difference(before: &Coverage, now: &Coverage) -> CoverageDifference {
    let missing_from = |these: &Coverage, those: &Coverage| {
        let covered =
            |coverage: &Coverage, item: &CoverageItem| coverage.items.get(item).is_some_and(|it| it.is_covered);
        these.items.keys().filter(|item| covered(these, item) && !covered(those, item)).cloned().collect()
    };
    CoverageDifference { lost: missing_from(before, now), gained: missing_from(now, before) }
}
