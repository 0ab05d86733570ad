//! The trials of a run as they were planned.

use std::collections::HashMap;
use std::fmt::{self, Formatter};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::NamePlaces;
use crate::evidence::{Condition, TrialId};

/// The trials of a run, as they were planned. What those of one group share stands once, and the texts of groups too; where they are
/// rounds of all groups, one after the other and numbered from 1, as every run plans them, nothing is held of a single one. Written and
/// read as a list of [`TrialId`]s.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedTrials {
    cases: Vec<String>,
    models: Vec<String>,
    /// In the order in which the first trial of each comes.
    groups: Vec<PlannedGroup>,
    trials: TrialList,
}

/// What the trials of a group share: a case and a model by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PlannedGroup {
    case: u32,
    model: u32,
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq)]
enum TrialList {
    /// So many trials: one of each group in their order, then a second one of each, and so on.
    Rounds(u32),
    /// Any others.
    Listed(Vec<PlannedTrial>),
}

impl Default for TrialList {
    fn default() -> TrialList {
        TrialList::Rounds(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PlannedTrial {
    number: u32,
    group: u32,
    repeat: u32,
}

impl PlannedTrial {
    /// The trial at a place of rounds of so many groups.
    fn of_rounds(place: usize, groups: usize) -> PlannedTrial {
        let (round, group) = (place / groups.max(1), place % groups.max(1));
        PlannedTrial { number: place as u32 + 1, group: group as u32, repeat: round as u32 + 1 }
    }
}

/// A group of trials, by its texts.
pub(super) struct PlannedGroupName<'a> {
    pub(super) case: &'a str,
    pub(super) model: &'a str,
    pub(super) condition: Condition,
}

impl PlannedTrials {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.trials {
            TrialList::Rounds(count) => *count as usize,
            TrialList::Listed(trials) => trials.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each of them, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = TrialId> {
        (0..self.len()).map(|place| self.at(place))
    }

    /// The same by their numbers: of two with the same number the later one.
    pub(super) fn by_number(mut self) -> PlannedTrials {
        let TrialList::Listed(trials) = &mut self.trials else { return self };
        trials.sort_by_key(|trial| trial.number);
        trials.dedup_by(|later, kept| {
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
        match &self.trials {
            TrialList::Rounds(count) => (1..=*count).contains(&number).then(|| number as usize - 1),
            TrialList::Listed(trials) => trials.binary_search_by_key(&number, |trial| trial.number).ok(),
        }
    }

    /// The trial of this number, where they stand by their numbers.
    pub fn numbered(&self, number: u32) -> Option<TrialId> {
        self.place(number).map(|place| self.at(place))
    }

    /// The trial at a place.
    pub(super) fn at(&self, place: usize) -> TrialId {
        let PlannedTrial { number, group, repeat } = self.planned(place);
        let PlannedGroupName { case, model, condition } = self.group_name(group as usize);
        TrialId { number, case: case.to_owned(), model: model.to_owned(), condition, repeat }
    }

    /// The number of the trial at a place.
    pub(super) fn number_at(&self, place: usize) -> u32 {
        self.planned(place).number
    }

    /// The repetition of the trial at a place.
    pub(super) fn repeat_at(&self, place: usize) -> u32 {
        self.planned(place).repeat
    }

    /// The place of the group of the trial at a place.
    pub(super) fn group_at(&self, place: usize) -> usize {
        self.planned(place).group as usize
    }

    /// The first trial of each group alone: what holds of their texts holds of all.
    pub(crate) fn sample(&self) -> PlannedTrials {
        // Groups stand in the order of their first trials.
        let mut next = 0;
        let mut is_first = |trial: &PlannedTrial| {
            let is_first = trial.group == next;
            next += u32::from(is_first);
            is_first
        };
        let trials = match &self.trials {
            TrialList::Rounds(count) => TrialList::Rounds((*count).min(self.groups.len() as u32)),
            TrialList::Listed(trials) => {
                TrialList::Listed(trials.iter().copied().filter(|trial| is_first(trial)).collect())
            }
        };
        PlannedTrials { trials, ..self.clone_without_trials() }
    }

    fn clone_without_trials(&self) -> PlannedTrials {
        let (cases, models) = (self.cases.clone(), self.models.clone());
        PlannedTrials { cases, models, groups: self.groups.clone(), trials: TrialList::default() }
    }

    /// The same with the texts of its groups as they are in such a sample.
    pub(crate) fn named_as(self, sample: &PlannedTrials) -> PlannedTrials {
        let groups = (0..sample.len()).map(|place| sample.groups[sample.group_at(place)]).collect();
        PlannedTrials { groups, trials: self.trials, ..sample.clone_without_trials() }
    }

    /// Each group with the number of its trials.
    pub(super) fn groups(&self) -> impl Iterator<Item = (PlannedGroupName<'_>, usize)> {
        (0..self.groups.len()).map(|group| self.group_name(group)).zip(self.counts())
    }

    /// How many trials each group has.
    pub(super) fn counts(&self) -> Vec<usize> {
        let groups = self.groups.len();
        let mut counts = vec![0; groups];
        match &self.trials {
            TrialList::Rounds(count) => {
                let count = *count as usize;
                (0..)
                    .zip(&mut counts)
                    .for_each(|(place, own)| *own = count / groups + usize::from(place < count % groups));
            }
            TrialList::Listed(trials) => trials.iter().for_each(|trial| counts[trial.group as usize] += 1),
        }
        counts
    }

    /// The cases that are run with a model, in the order of the plan; each as often as it has conditions there.
    pub fn cases_of<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a str> {
        let groups = (0..self.groups.len()).map(|group| self.group_name(group));
        groups.filter(move |group| group.model == model).map(|group| group.case)
    }

    fn planned(&self, place: usize) -> PlannedTrial {
        match &self.trials {
            TrialList::Rounds(_) => PlannedTrial::of_rounds(place, self.groups.len()),
            TrialList::Listed(trials) => trials[place],
        }
    }

    fn group_name(&self, group: usize) -> PlannedGroupName<'_> {
        let PlannedGroup { case, model, condition } = self.groups[group];
        PlannedGroupName { case: &self.cases[case as usize], model: &self.models[model as usize], condition }
    }

    /// Adds a trial. Whatever is no next one of the rounds so far makes a list of them.
    fn push(&mut self, trial: PlannedTrial, is_new_group: bool) {
        // In the first round every group is new.
        let place = self.len();
        let groups = self.groups.len() - usize::from(is_new_group);
        let is_next = match is_new_group {
            true => place == groups && trial == PlannedTrial::of_rounds(place, place + 1),
            false => trial == PlannedTrial::of_rounds(place, groups),
        };
        match &mut self.trials {
            TrialList::Rounds(count) if is_next => *count += 1,
            TrialList::Rounds(count) => {
                let before = (0..*count as usize).map(|place| PlannedTrial::of_rounds(place, groups));
                self.trials = TrialList::Listed(before.chain([trial]).collect());
            }
            TrialList::Listed(trials) => trials.push(trial),
        }
    }
}

impl FromIterator<TrialId> for PlannedTrials {
    fn from_iter<I: IntoIterator<Item = TrialId>>(trials: I) -> PlannedTrials {
        let mut planned = PlannedTrials::default();
        let (mut cases, mut models) = (NamePlaces::default(), NamePlaces::default());
        let mut places: HashMap<PlannedGroup, u32> = HashMap::new();
        for TrialId { number, case, model, condition, repeat } in trials {
            let (case, model) = (cases.place_of(&case), models.place_of(&model));
            let group = PlannedGroup { case, model, condition };
            let known = places.get(&group).copied();
            let place = known.unwrap_or(planned.groups.len() as u32);
            if known.is_none() {
                planned.groups.push(group);
                places.insert(group, place);
            }
            planned.push(PlannedTrial { number, group: place, repeat }, known.is_none());
        }
        (planned.cases, planned.models) = (cases.into_names(), models.into_names());
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
        let groups: Vec<(&str, usize)> = planned.groups().map(|(group, count)| (group.case, count)).collect();
        assert_eq!(groups, [("a", 2), ("b", 2)]);
    }

    #[test]
    fn rounds_of_all_groups_are_held_by_their_number_and_any_others_one_by_one() {
        let round = |from: u32, repeat: u32| {
            ["a", "b", "c"].into_iter().zip(from..).map(move |(case, at)| id(at, case, repeat))
        };
        let rounds: Vec<TrialId> = round(1, 1).chain(round(4, 2)).chain(round(7, 3)).collect();
        for count in 0..=rounds.len() {
            let planned: PlannedTrials = rounds[..count].iter().cloned().collect();
            assert_eq!(planned.trials, TrialList::Rounds(count as u32));
            assert_eq!(planned.iter().collect::<Vec<_>>(), rounds[..count]);
            assert_eq!(planned.counts().iter().sum::<usize>(), count);
            assert_eq!((planned.numbered(0), planned.numbered(count as u32 + 1)), (None, None));
            let named = planned.clone().named_as(&planned.sample());
            assert_eq!(named, planned);
        }
        let others = [
            vec![id(2, "a", 1)],
            vec![id(1, "a", 1), id(2, "a", 3)],
            vec![id(1, "a", 1), id(2, "b", 1), id(3, "b", 2)],
            // A case that is new in the second round, and one whose round is not the first.
            vec![id(1, "a", 1), id(2, "b", 1), id(3, "a", 2), id(4, "c", 1), id(5, "b", 2)],
            vec![id(1, "a", 1), id(2, "b", 2)],
        ];
        for trials in others {
            let planned: PlannedTrials = trials.iter().cloned().collect();
            assert!(matches!(planned.trials, TrialList::Listed(_)), "{trials:?}");
            assert_eq!(planned.iter().collect::<Vec<_>>(), trials);
            assert_eq!(planned.counts().iter().sum::<usize>(), trials.len());
            let sample = planned.sample();
            assert_eq!(planned.clone().named_as(&sample), planned, "{trials:?}");
        }
    }

    #[test]
    fn of_two_with_one_number_the_later_one_is_found() {
        let planned: PlannedTrials = [id(3, "a", 1), id(1, "b", 1), id(3, "c", 2)].into_iter().collect();
        let planned = planned.by_number();
        assert_eq!(planned.iter().collect::<Vec<_>>(), [id(1, "b", 1), id(3, "c", 2)]);
        assert_eq!((planned.numbered(3), planned.numbered(2)), (Some(id(3, "c", 2)), None));
    }
}
