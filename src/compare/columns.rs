//! What is held of the conversations of a side: their rows, and columns of scores.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::evidence::Condition;

/// A conversation of a side: its case by its place, its condition, its repetition.
pub(super) type ConversationKey = (u32, Condition, u32);

/// So many repetitions of a case in a condition stand together.
const BLOCK: u32 = 64;

/// The row where there is no conversation.
const NONE: u32 = u32::MAX;

/// The rows of conversations: for each case that of the first repetition in each condition, and the others block by block. Four bytes
/// a conversation are held where repetitions are counted from 1 without large gaps.
#[derive(Debug, Clone, Default)]
pub(super) struct TrialRows {
    first: Vec<[u32; Condition::ALL.len()]>,
    others: BTreeMap<(u32, Condition, u32), Vec<u32>>,
}

impl TrialRows {
    /// Sets the row of a conversation; that of an earlier record of it is no more.
    pub(super) fn insert(&mut self, key: ConversationKey, row: u32) {
        let (case, condition, repeat) = key;
        if repeat == 1 {
            let cases = self.first.len().max(case as usize + 1);
            self.first.resize(cases, [NONE; Condition::ALL.len()]);
            self.first[case as usize][condition as usize] = row;
            return;
        }
        let block = self.others.entry((case, condition, repeat / BLOCK)).or_default();
        let place = (repeat % BLOCK) as usize;
        if block.len() <= place {
            block.resize(place + 1, NONE);
        }
        block[place] = row;
    }

    /// The row of a conversation.
    pub(super) fn row(&self, key: ConversationKey) -> Option<u32> {
        let (case, condition, repeat) = key;
        let row = match repeat {
            1 => self.first.get(case as usize).map(|rows| rows[condition as usize]),
            _ => self
                .others
                .get(&(case, condition, repeat / BLOCK))
                .and_then(|block| block.get((repeat % BLOCK) as usize).copied()),
        };
        row.filter(|row| *row != NONE)
    }

    /// All of them by case, condition and repetition, each with its row.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConversationKey, u32)> + Clone {
        let last = self.others.keys().next_back().map_or(0, |(case, ..)| case + 1);
        let cases = 0..last.max(self.first.len() as u32);
        cases.flat_map(move |case| Condition::ALL.into_iter().flat_map(move |condition| self.of(case, condition)))
    }

    fn of(&self, case: u32, condition: Condition) -> impl Iterator<Item = (ConversationKey, u32)> + Clone {
        let first = self.row((case, condition, 1)).map(|row| ((case, condition, 1), row));
        let others = self.others.range((case, condition, 0)..=(case, condition, u32::MAX));
        let others = others.flat_map(move |((.., block), rows)| {
            let keys = (0..).map(move |at| (case, condition, block * BLOCK + at));
            keys.zip(rows.iter().copied()).filter(|(_, row)| *row != NONE)
        });
        first.into_iter().chain(others)
    }
}

/// The most different values of which a row is one byte.
const MOST_KNOWN: usize = 256;

/// Values row by row: of few different ones, as most metrics have, a byte each, and eight of more.
#[derive(Debug, Clone)]
pub(super) enum ScoreColumn {
    /// The different values, and the place of each row's among them.
    Few { known: Vec<f64>, places: Vec<u8> },
    /// Each as it is.
    Many(Vec<f64>),
}

impl Default for ScoreColumn {
    fn default() -> ScoreColumn {
        ScoreColumn::Few { known: Vec::new(), places: Vec::new() }
    }
}

impl ScoreColumn {
    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        match self {
            ScoreColumn::Few { places, .. } => places.len(),
            ScoreColumn::Many(values) => values.len(),
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, value: f64) {
        match self {
            ScoreColumn::Many(values) => values.push(value),
            ScoreColumn::Few { known, places } => {
                // NaN is a value like any other here.
                match known.iter().position(|it| it.to_bits() == value.to_bits()) {
                    Some(place) => places.push(place as u8),
                    None if known.len() < MOST_KNOWN => {
                        places.push(known.len() as u8);
                        known.push(value);
                    }
                    None => {
                        let before = places.iter().map(|place| known[usize::from(*place)]);
                        let mut values = Vec::with_capacity((places.len() + 1).max(places.capacity()));
                        values.extend(before.chain([value]));
                        *self = ScoreColumn::Many(values);
                    }
                }
            }
        }
    }

    /// Adds rows of a value up to this number of rows, or leaves out those beyond.
    pub(super) fn resize(&mut self, rows: usize, value: f64) {
        match self {
            ScoreColumn::Few { places, .. } => places.truncate(rows),
            ScoreColumn::Many(values) => values.truncate(rows),
        }
        (self.len()..rows).for_each(|_| self.push(value));
    }

    /// The value of a row.
    pub(super) fn get(&self, row: u32) -> Option<f64> {
        match self {
            ScoreColumn::Few { known, places } => places.get(row as usize).map(|place| known[usize::from(*place)]),
            ScoreColumn::Many(values) => values.get(row as usize).copied(),
        }
    }
}

/// The names of cases by their places, and where each stands.
#[derive(Debug, Clone, Default)]
pub(super) struct CaseNames {
    names: Arc<Vec<String>>,
    /// Their places, sorted by the names.
    sorted: Vec<u32>,
    /// The one that was looked for last: conversations of a case mostly come together.
    last: u32,
}

impl CaseNames {
    /// All of them.
    pub(super) fn all(&self) -> &Arc<Vec<String>> {
        &self.names
    }

    /// The place of a case.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.search(name).ok()
    }

    /// Adds the cases of these names that are not there yet, in their order; returns their places.
    pub(super) fn extend<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> std::ops::Range<u32> {
        let before = self.names.len();
        let mut seen: HashSet<&str> = HashSet::new();
        let new: Vec<&str> = names.into_iter().filter(|name| self.find(name).is_none() && seen.insert(name)).collect();
        let names = Arc::make_mut(&mut self.names);
        names.reserve_exact(new.len());
        names.extend(new.into_iter().map(str::to_owned));
        let added = before as u32..names.len() as u32;
        self.sorted.extend(added.clone());
        self.sorted.sort_by(|one, other| names[*one as usize].cmp(&names[*other as usize]));
        added
    }

    /// The place of a case, and whether it is new.
    pub(super) fn place_of(&mut self, name: &str) -> (u32, bool) {
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return (self.last, false);
        }
        let (place, is_new) = match self.search(name) {
            Ok(place) => (place, false),
            Err(at) => {
                let place = self.names.len() as u32;
                Arc::make_mut(&mut self.names).push(name.to_owned());
                self.sorted.insert(at, place);
                (place, true)
            }
        };
        self.last = place;
        (place, is_new)
    }

    fn search(&self, name: &str) -> Result<u32, usize> {
        let found = self.sorted.binary_search_by(|place| self.names[*place as usize].as_str().cmp(name));
        found.map(|at| self.sorted[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_conversations_and_come_in_order() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut expected: BTreeMap<ConversationKey, u32> = BTreeMap::new();
        let mut rows = TrialRows::default();
        for row in 0..3_000 {
            let condition = Condition::ALL[rng.usize(0..2)];
            let repeat = if rng.bool() { 1 } else { rng.u32(1..200) };
            let key = (rng.u32(0..9), condition, repeat);
            rows.insert(key, row);
            expected.insert(key, row);
        }
        assert_eq!(rows.iter().collect::<Vec<_>>(), expected.clone().into_iter().collect::<Vec<_>>());
        for case in 0..10 {
            for (condition, repeat) in Condition::ALL.into_iter().flat_map(|it| (0..210).map(move |at| (it, at))) {
                let key = (case, condition, repeat);
                assert_eq!(rows.row(key), expected.get(&key).copied(), "{key:?}");
            }
        }
    }

    #[test]
    fn a_column_gives_back_each_value_to_the_last_digit_and_is_small_for_few() {
        for different in [1, 3, 256, 257, 4_000] {
            let mut rng = fastrand::Rng::with_seed(different);
            let known: Vec<f64> = (0..different).map(|at| if at == 0 { f64::NAN } else { rng.f64() }).collect();
            let values: Vec<f64> =
                known.iter().copied().chain((0..5_000).map(|_| *rng.choice(&known).unwrap())).collect();
            let mut column = ScoreColumn::default();
            values.iter().for_each(|value| column.push(*value));
            column.resize(values.len() + 3, f64::INFINITY);
            let is_small = matches!(column, ScoreColumn::Few { .. });
            assert_eq!(is_small, different < 256, "{different}");
            assert_eq!(column.len(), values.len() + 3);
            for (row, value) in (0..).zip(values) {
                assert_eq!(column.get(row).unwrap().to_bits(), value.to_bits());
            }
            assert_eq!(
                (column.get(column.len() as u32 - 1), column.get(column.len() as u32)),
                (Some(f64::INFINITY), None)
            );
            column.resize(2, 0.0);
            assert_eq!(column.len(), 2);
        }
    }

    #[test]
    fn cases_keep_the_places_in_which_they_came() {
        let mut names = CaseNames::default();
        let came = ["m", "b", "m", "z", "a", "b", "b"];
        let places: Vec<(u32, bool)> = came.iter().map(|name| names.place_of(name)).collect();
        assert_eq!(places, [(0, true), (1, true), (0, false), (2, true), (3, true), (1, false), (1, false)]);
        assert_eq!(names.all().as_slice(), ["m", "b", "z", "a"]);
        assert_eq!((names.find("z"), names.find("c")), (Some(2), None));
        assert_eq!(names.extend(["c", "c", "a", "y", "c"]), 4..6);
        assert_eq!((names.find("c"), names.find("y"), names.find("m")), (Some(4), Some(5), Some(0)));
    }
}
