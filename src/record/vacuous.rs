//! Assertions that may say nothing of the conversations of a run.

use std::collections::BTreeMap;

use super::{RunRecord, TrialRecord};
use crate::score::{Item, Vacuity, Weight};

/// An assertion of a run: its case, and what it is known by there.
pub type AssertionKey<'a> = (&'a str, &'a str);

impl RunRecord {
    /// The assertions that held wherever they were checked and could not have failed anywhere.
    pub fn vacuous_assertions(&self) -> Vec<AssertionKey<'_>> {
        self.assertions(|items| {
            // One that is missing for another reason tells nothing of what it can do.
            let tells = |item: &&&Item| item.component.score().is_some() || is_unshown(item);
            let checked: Vec<&&Item> = items.iter().filter(tells).collect();
            !checked.is_empty() && checked.iter().all(|item| item.vacuity == Some(Vacuity::Vacuous))
        })
    }

    /// The other assertions that held before the first word of some conversation already.
    pub fn held_before_assertions(&self) -> Vec<AssertionKey<'_>> {
        let vacuous = self.vacuous_assertions();
        let held = self.assertions(|items| items.iter().any(|item| is_unshown(item)));
        held.into_iter().filter(|key| !vacuous.contains(key)).collect()
    }

    /// Whether what held before the first word can be what earlier conversations left.
    pub fn may_be_left_over(&self) -> bool {
        let before = self.trials.iter().filter_map(|trial| trial.evidence.as_ref()?.before.as_ref());
        before.into_iter().any(|before| before.may_be_left_over)
    }

    /// The assertions of which this is true: what all trials of the case made of each.
    fn assertions(&self, is_one: impl Fn(&[&Item]) -> bool) -> Vec<AssertionKey<'_>> {
        let mut all: Vec<(AssertionKey<'_>, Vec<&Item>)> = Vec::new();
        let mut places: BTreeMap<AssertionKey<'_>, usize> = BTreeMap::new();
        for trial in &self.trials {
            for item in assertions_of(trial).unwrap_or_default() {
                let key = (trial.trial.case.as_str(), item.key());
                let place = *places.entry(key).or_insert_with(|| {
                    all.push((key, Vec::new()));
                    all.len() - 1
                });
                all[place].1.push(item);
            }
        }
        all.into_iter().filter(|(_, items)| is_one(items)).map(|(key, _)| key).collect()
    }
}

impl TrialRecord {
    /// Whether it has no figure, and only for assertions that held before the first word.
    pub(super) fn is_unscored_for_what_held_before(&self) -> bool {
        let Some(card) = self.scorecard.as_ref().filter(|card| card.composite.is_missing()) else { return false };
        let counts = self.outcome.as_ref().is_some_and(|outcome| outcome.counts());
        let mut missing =
            card.dimensions.iter().filter(|it| it.weight > Weight::ZERO && it.component.is_missing()).peekable();
        counts
            && missing.peek().is_some()
            && missing.all(|dimension| {
                let items = dimension.items.iter().filter(|it| it.weight > Weight::ZERO && it.component.is_missing());
                dimension.name == "assertions" && items.into_iter().all(is_unshown)
            })
    }
}

fn assertions_of(trial: &TrialRecord) -> Option<&[Item]> {
    Some(trial.scorecard.as_ref()?.dimension("assertions")?.items.as_slice())
}

/// Whether it held before the first word.
fn is_unshown(item: &Item) -> bool {
    matches!(item.vacuity, Some(Vacuity::Vacuous | Vacuity::HeldBefore))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Component, Score};

    #[test]
    fn only_what_held_before_is_unshown() {
        let item = |vacuity| Item {
            id: None,
            label: "a".to_owned(),
            weight: Weight::ONE,
            component: Component::scored(Score::ONE, "holds"),
            vacuity,
        };
        assert!(is_unshown(&item(Some(Vacuity::HeldBefore))) && is_unshown(&item(Some(Vacuity::Vacuous))));
        assert!(!is_unshown(&item(None)) && !is_unshown(&item(Some(Vacuity::NotChecked { why: "w".to_owned() }))));
    }
}
