//! The trials of a run as they were planned.

use std::collections::HashMap;
use std::fmt::{self, Formatter};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::evidence::{Condition, TrialId};

/// The trials of a run, as they were planned. Twelve bytes a trial are held: what those of one group share stands once. Written and
/// read as a list of [`TrialId`]s.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedTrials {
    /// In the order in which the first of each comes.
    groups: Vec<PlannedGroup>,
    trials: Vec<PlannedTrial>,
}

/// What the trials of a group share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PlannedGroup {
    pub(super) case: String,
    pub(super) model: String,
    pub(super) condition: Condition,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PlannedTrial {
    number: u32,
    group: u32,
    repeat: u32,
}

impl PlannedTrials {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// Each of them, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = TrialId> {
        self.trials.iter().map(|trial| self.id(trial))
    }

    /// The same by their numbers: of two with the same number the later one.
    pub(super) fn by_number(mut self) -> PlannedTrials {
        self.trials.sort_by_key(|trial| trial.number);
        self.trials.dedup_by(|later, kept| {
            let is_same = later.number == kept.number;
            if is_same {
                *kept = *later;
            }
            is_same
        });
        self
    }

    /// The place of a trial, where they stand by their numbers.
    pub(super) fn place(&self, number: u32) -> Option<usize> {
        self.trials.binary_search_by_key(&number, |trial| trial.number).ok()
    }

    /// The trial of this number, where they stand by their numbers.
    pub fn numbered(&self, number: u32) -> Option<TrialId> {
        self.place(number).map(|place| self.at(place))
    }

    /// The trial at a place.
    pub(super) fn at(&self, place: usize) -> TrialId {
        self.id(&self.trials[place])
    }

    /// The number of the trial at a place.
    pub(super) fn number_at(&self, place: usize) -> u32 {
        self.trials[place].number
    }

    /// The repetition of the trial at a place.
    pub(super) fn repeat_at(&self, place: usize) -> u32 {
        self.trials[place].repeat
    }

    /// The first trial of each group alone: what holds of their texts holds of all.
    pub(crate) fn sample(&self) -> PlannedTrials {
        // Groups stand in the order of their first trials.
        let mut next = 0;
        let mut is_first = |trial: &&PlannedTrial| {
            let is_first = trial.group == next;
            next += u32::from(is_first);
            is_first
        };
        let trials = self.trials.iter().filter(|trial| is_first(trial)).copied().collect();
        PlannedTrials { groups: self.groups.clone(), trials }
    }

    /// The same with the texts of its groups as they are in such a sample.
    pub(crate) fn named_as(self, sample: &PlannedTrials) -> PlannedTrials {
        let groups = sample.trials.iter().map(|trial| sample.groups[trial.group as usize].clone()).collect();
        PlannedTrials { groups, ..self }
    }

    /// Each group with the number of its trials.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&PlannedGroup, usize)> {
        let mut counts = vec![0; self.groups.len()];
        self.trials.iter().for_each(|trial| counts[trial.group as usize] += 1);
        self.groups.iter().zip(counts)
    }

    fn id(&self, trial: &PlannedTrial) -> TrialId {
        let PlannedGroup { case, model, condition } = self.groups[trial.group as usize].clone();
        TrialId { number: trial.number, case, model, condition, repeat: trial.repeat }
    }
}

impl FromIterator<TrialId> for PlannedTrials {
    fn from_iter<I: IntoIterator<Item = TrialId>>(trials: I) -> PlannedTrials {
        let mut places: HashMap<PlannedGroup, u32> = HashMap::new();
        let mut planned = PlannedTrials::default();
        for TrialId { number, case, model, condition, repeat } in trials {
            let group = PlannedGroup { case, model, condition };
            let group = places.get(&group).copied().unwrap_or_else(|| {
                let place = planned.groups.len() as u32;
                planned.groups.push(group.clone());
                places.insert(group, place);
                place
            });
            planned.trials.push(PlannedTrial { number, group, repeat });
        }
        planned
    }
}

impl Serialize for PlannedTrials {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for PlannedTrials {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PlannedTrials, D::Error> {
        struct Trials;

        impl<'de> Visitor<'de> for Trials {
            type Value = PlannedTrials;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a list of trials")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut trials: A) -> Result<PlannedTrials, A::Error> {
                std::iter::from_fn(|| trials.next_element::<TrialId>().transpose()).collect()
            }
        }

        deserializer.deserialize_seq(Trials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32, case: &str, repeat: u32) -> TrialId {
        let (case, model) = (case.to_owned(), "m".to_owned());
        TrialId { number, case, model, condition: Condition::WithFacts, repeat }
    }

    #[test]
    fn they_are_written_and_read_as_a_list_of_trials() {
        let trials = [id(1, "a", 1), id(2, "b", 1), id(3, "a", 2), id(5, "b", 2)];
        let planned: PlannedTrials = trials.iter().cloned().collect();
        assert_eq!(planned.iter().collect::<Vec<_>>(), trials);
        let written = serde_json::to_string(&planned).unwrap();
        assert_eq!(written, serde_json::to_string(&trials).unwrap());
        assert_eq!(serde_json::from_str::<PlannedTrials>(&written).unwrap(), planned);
        let groups: Vec<(&str, usize)> = planned.groups().map(|(group, count)| (group.case.as_str(), count)).collect();
        assert_eq!(groups, [("a", 2), ("b", 2)]);
    }

    #[test]
    fn of_two_with_one_number_the_later_one_is_found() {
        let planned: PlannedTrials = [id(3, "a", 1), id(1, "b", 1), id(3, "c", 2)].into_iter().collect();
        let planned = planned.by_number();
        assert_eq!(planned.iter().collect::<Vec<_>>(), [id(1, "b", 1), id(3, "c", 2)]);
        assert_eq!((planned.numbered(3), planned.numbered(2)), (Some(id(3, "c", 2)), None));
    }
}
