//! Assertions that no trial of a run could make fail.

use super::RunRecord;
use crate::score::{Item, Vacuity};

impl RunRecord {
    /// The places, from 0, of the assertions that held wherever they were checked and could not have failed anywhere.
    pub fn vacuous_assertions(&self) -> Vec<usize> {
        let cards: Vec<&[Item]> = self
            .trials
            .iter()
            .filter_map(|trial| trial.scorecard.as_ref()?.dimension("assertions"))
            .map(|dimension| dimension.items.as_slice())
            .collect();
        let count = cards.iter().map(|items| items.len()).max().unwrap_or_default();
        (0..count)
            .filter(|index| {
                // A missing one tells nothing of what it can do.
                let checked =
                    cards.iter().filter_map(|items| items.get(*index)).filter(|item| item.component.score().is_some());
                let checked: Vec<&Item> = checked.collect();
                !checked.is_empty() && checked.iter().all(|item| item.vacuity == Some(Vacuity::Vacuous))
            })
            .collect()
    }
}
