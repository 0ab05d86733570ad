//! Sentences about trials, each once.

use std::collections::BTreeMap;

use crate::record::TrialRecord;

/// How many different sentences of a kind are kept.
const MOST: usize = 20;

/// A sentence with the groups whose trials it is about.
pub(in crate::report) type FoundSentence = (String, BTreeMap<usize, TrialLocation>);

/// Sentences, each with the groups whose trials it is about. Of more than there is room for, the first by the alphabet are kept: in
/// whichever order trials end, they are the same.
#[derive(Debug, Default)]
pub(in crate::report) struct Sentences {
    /// Sorted by the sentences.
    found: Vec<FoundSentence>,
    /// The number of trials whose sentence was dropped.
    pub(in crate::report) dropped: usize,
}

/// The trials of a group that something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct TrialLocation {
    /// How many.
    pub(in crate::report) trials: usize,
    /// The first of them: its repetition and its last turn.
    pub(in crate::report) repeat: u32,
    pub(in crate::report) turn: u32,
}

impl TrialLocation {
    pub(super) fn first(trial: &TrialRecord) -> TrialLocation {
        let turns = trial.evidence.as_ref().map(|evidence| evidence.transcript.turns.as_slice());
        let turn = turns.and_then(<[_]>::last).map_or(0, |turn| turn.number);
        TrialLocation { trials: 1, repeat: trial.trial.repeat, turn }
    }

    /// One more trial.
    pub(super) fn add(&mut self, trial: &TrialRecord) {
        let trials = self.trials + 1;
        if trial.trial.repeat < self.repeat {
            *self = TrialLocation::first(trial);
        }
        self.trials = trials;
    }

    /// All of another's trials.
    pub(super) fn merge(&mut self, other: &TrialLocation) {
        let trials = self.trials + other.trials;
        if other.repeat < self.repeat {
            self.clone_from(other);
        }
        self.trials = trials;
    }
}

impl Sentences {
    pub(super) fn add(&mut self, group: usize, trial: &TrialRecord, sentence: String) {
        match self.found.binary_search_by(|(known, _)| known.cmp(&sentence)) {
            Ok(place) => {
                let groups = &mut self.found[place].1;
                groups.entry(group).and_modify(|found| found.add(trial)).or_insert_with(|| TrialLocation::first(trial));
            }
            Err(MOST) => self.dropped += 1,
            Err(place) => {
                self.found.insert(place, (sentence, BTreeMap::from([(group, TrialLocation::first(trial))])));
                let beyond = self.found.split_off(self.found.len().min(MOST));
                self.dropped +=
                    beyond.iter().flat_map(|(_, groups)| groups.values()).map(|it| it.trials).sum::<usize>();
            }
        }
    }

    /// In the order of the groups, and of the trials in them.
    pub(in crate::report) fn in_order(&self) -> Vec<&FoundSentence> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(_, groups)| groups.iter().next().map(|(group, location)| (*group, location.repeat)));
        found
    }
}
