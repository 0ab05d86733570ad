//! The scores of one side.

use std::collections::{BTreeMap, HashMap};

use super::LeftOut;
use super::divergence::Words;
use super::judged::Subject;
use crate::evidence::Condition;
use crate::record::TrialRecord;
use crate::score::Outcome;

/// A conversation of a side: its case by its place, its condition, its repetition.
pub(super) type Key = (u32, Condition, u32);

/// The scores of one side, conversation by conversation. About a hundred bytes a conversation are held.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    cases: Vec<String>,
    places: HashMap<String, u32>,
    /// Each conversation's row.
    trials: BTreeMap<Key, u32>,
    composite: Vec<f64>,
    /// The metrics in the order in which they come, each with a row a conversation; NaN where it has none.
    metrics: Vec<(String, Vec<f64>)>,
    /// The words, a row a conversation, where it was read.
    words: Vec<Words>,
}

/// A conversation of each side: its case and condition, and the rows of both.
pub(super) type RowPair = (u32, Condition, [u32; 2]);

impl Scores {
    /// Takes in a conversation. One that says nothing of the agent has no score.
    pub fn add(&mut self, trial: &TrialRecord) {
        let case = self.place_of(&trial.trial.case);
        let counts = trial.outcome.as_ref().is_some_and(Outcome::counts);
        let row = self.composite.len();
        self.composite.push(trial.score().filter(|_| counts).map_or(f64::NAN, |score| score.get()));
        for dimension in trial.scorecard.iter().filter(|_| counts).flat_map(|card| &card.dimensions) {
            let known = self.metrics.iter().position(|(name, _)| *name == dimension.name);
            let place = known.unwrap_or_else(|| {
                self.metrics.push((dimension.name.clone(), Vec::new()));
                self.metrics.len() - 1
            });
            let column = &mut self.metrics[place].1;
            column.resize(row, f64::NAN);
            column.push(dimension.component.score().map_or(f64::NAN, |score| score.get()));
        }
        // A later record of the same conversation takes the place of an earlier one.
        self.trials.insert((case, trial.trial.condition, trial.trial.repeat), row as u32);
    }

    /// The same, with what was said in it.
    pub fn add_with_words(&mut self, trial: &TrialRecord) {
        self.words.resize(self.composite.len(), Words::default());
        self.words.push(trial.evidence.as_ref().map(|it| Words::new(&it.transcript)).unwrap_or_default());
        self.add(trial);
    }

    /// The words of a conversation, where it was read.
    pub(super) fn words(&self, row: u32) -> Option<&Words> {
        self.words.get(row as usize)
    }

    fn place_of(&mut self, case: &str) -> u32 {
        if let Some(place) = self.places.get(case) {
            return *place;
        }
        let place = self.cases.len() as u32;
        self.cases.push(case.to_owned());
        self.places.insert(case.to_owned(), place);
        place
    }

    /// The ids of its cases.
    pub fn cases(&self) -> &[String] {
        &self.cases
    }

    /// Whether it has a case.
    pub fn has(&self, case: &str) -> bool {
        self.places.contains_key(case)
    }

    pub(super) fn shared_cases(&self, other: &Scores) -> u32 {
        self.cases.iter().filter(|case| other.has(case)).count() as u32
    }

    /// The conversations that both sides held, with cases by their places here.
    pub(super) fn pairs(&self, other: &Scores) -> Vec<RowPair> {
        self.keyed_pairs(other).map(|((case, condition, _), rows)| (case, condition, rows)).collect()
    }

    /// The same with their repetitions.
    pub(super) fn keyed_pairs<'a>(&'a self, other: &'a Scores) -> impl Iterator<Item = (Key, [u32; 2])> + 'a {
        let theirs: Vec<Option<u32>> = self.cases.iter().map(|case| other.places.get(case).copied()).collect();
        let pair = move |(&key, &row): (&Key, &u32)| {
            let (case, condition, repeat) = key;
            let counterpart = other.trials.get(&(theirs[case as usize]?, condition, repeat))?;
            Some((key, [row, *counterpart]))
        };
        self.trials.iter().filter_map(pair)
    }

    /// The subjects of which both sides have a score.
    pub(super) fn subjects(&self, other: &Scores) -> Vec<Subject> {
        let conditions: std::collections::BTreeSet<Condition> =
            self.trials.keys().map(|(_, condition, _)| *condition).collect();
        let conditions = conditions.into_iter().map(Subject::Condition);
        let has = |name: &String| other.metrics.iter().any(|(known, _)| known == name);
        let metrics = self.metrics.iter().map(|(name, _)| name).filter(|name| has(name));
        let several = conditions.len() > 1;
        std::iter::once(Subject::Score)
            .chain(conditions.filter(|_| several))
            .chain(metrics.map(|name| Subject::Metric(name.clone())))
            .collect()
    }

    /// A conversation's score of this; `None` where it has none.
    pub(super) fn value(&self, subject: &Subject, row: u32) -> Option<f64> {
        let column = match subject {
            Subject::Score | Subject::Condition(_) => &self.composite,
            Subject::Metric(name) => &self.metrics.iter().find(|(known, _)| known == name)?.1,
        };
        column.get(row as usize).copied().filter(|value| !value.is_nan())
    }

    pub(super) fn left_out(&self, other: &Scores, pairs: &[RowPair]) -> LeftOut {
        let only = |one: &Scores, other: &Scores| -> Vec<String> {
            one.cases.iter().filter(|case| !other.has(case)).cloned().collect()
        };
        let of_shared = |one: &Scores, other: &Scores| {
            one.trials.keys().filter(|(case, ..)| other.has(&one.cases[*case as usize])).count()
        };
        let lacks = |side: usize| {
            let has = |rows: &[u32; 2], side: usize| {
                let row = rows[side] as usize;
                !if side == 0 { self.composite[row] } else { other.composite[row] }.is_nan()
            };
            pairs.iter().filter(|(_, _, rows)| !has(rows, side) && has(rows, 1 - side)).count() as u32
        };
        LeftOut {
            only_first: only(self, other),
            only_second: only(other, self),
            unpaired: (of_shared(self, other) + of_shared(other, self) - 2 * pairs.len()) as u32,
            first_lacks_score: lacks(0),
            second_lacks_score: lacks(1),
        }
    }
}
