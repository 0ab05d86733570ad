//! The scores of one side.

use std::collections::{BTreeMap, HashMap};

use super::Excluded;
use super::judged::Subject;
use crate::evidence::{Condition, TranscriptDigest, case_and_persona};
use crate::record::TrialRecord;
use crate::score::{Component, Outcome};

/// A conversation of a side: its case by its place, its condition, its repetition.
pub(super) type ConversationKey = (u32, Condition, u32);

/// A score that could not be determined, in a column of scores; NaN stands where nothing was to be determined, or not yet.
const MISSING: f64 = f64::INFINITY;

/// A score that does not apply.
const NOT_APPLICABLE: f64 = f64::NEG_INFINITY;

/// A conversation's score of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TrialScore {
    /// It has this one.
    Scored(f64),
    /// It could not be determined: it may be anything from 0 to 1.
    Missing,
    /// The conversation was planned, and not run to its end.
    Planned,
    /// It does not apply to this conversation.
    NotApplicable,
}

/// The scores of one side, conversation by conversation. About a hundred bytes a conversation are held.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// The personas of its cases.
    personas: Vec<String>,
    cases: Vec<String>,
    places: HashMap<String, u32>,
    /// The number of each case in the file, the same for all its personas: cases of the file are the independent units.
    in_file: Vec<u32>,
    numbers: HashMap<String, u32>,
    /// Each conversation's row.
    trials: BTreeMap<ConversationKey, u32>,
    composite: Vec<f64>,
    /// The metrics in the order in which they come, each with a row a conversation.
    metrics: Vec<(String, Vec<f64>)>,
    /// The words, a row a conversation, where it was read.
    digests: Vec<TranscriptDigest>,
}

/// A conversation of each side: its case and condition, and the rows of both.
pub(super) type RowPair = (u32, Condition, [u32; 2]);

impl Scores {
    /// The scores of a run with these personas, without any conversation yet.
    pub fn new(personas: &[String]) -> Scores {
        Scores { personas: personas.to_vec(), ..Scores::default() }
    }

    /// The cases to come, in the order of the plan. In whichever order conversations end, those are the places of their cases, so that
    /// nothing that is drawn, and no list, depends on it.
    pub fn plan<'a>(&mut self, cases: impl IntoIterator<Item = &'a str>) {
        for case in cases {
            self.place_of(case);
        }
    }

    /// The same without its conversations.
    pub fn without_trials(&self) -> Scores {
        let mut scores = Scores::new(&self.personas);
        scores.plan(self.cases.iter().map(String::as_str));
        scores
    }

    /// Takes in a conversation. One that says nothing of the agent has no score.
    pub fn add(&mut self, trial: &TrialRecord) {
        let case = self.place_of(&trial.trial.case);
        let counts = trial.outcome.as_ref().is_some_and(Outcome::counts);
        let row = self.composite.len();
        let card = trial.scorecard.as_ref().filter(|_| counts);
        // One that was cut off may be a slow or long one: its score may be anything. One that never began is left out.
        let was_begun = trial.outcome.is_some() || trial.started_at.is_some();
        let without_card = if was_begun { MISSING } else { f64::NAN };
        self.composite.push(card.map_or(without_card, |card| value(&card.composite)));
        for dimension in card.into_iter().flat_map(|card| &card.dimensions) {
            let known = self.metrics.iter().position(|(name, _)| *name == dimension.name);
            let place = known.unwrap_or_else(|| {
                self.metrics.push((dimension.name.clone(), Vec::new()));
                self.metrics.len() - 1
            });
            let column = &mut self.metrics[place].1;
            column.resize(row, f64::NAN);
            column.push(value(&dimension.component));
        }
        // A later record of the same conversation takes the place of an earlier one.
        self.trials.insert((case, trial.trial.condition, trial.trial.repeat), row as u32);
    }

    /// Adds a conversation with the digest of its transcript.
    pub fn add_with_transcript(&mut self, trial: &TrialRecord) {
        self.digests.resize(self.composite.len(), TranscriptDigest::default());
        self.digests.push(trial.evidence.as_ref().map(|it| TranscriptDigest::new(&it.transcript)).unwrap_or_default());
        self.add(trial);
    }

    /// The digest of a transcript; `None` where it was not read.
    pub(super) fn digest(&self, row: u32) -> Option<&TranscriptDigest> {
        self.digests.get(row as usize)
    }

    fn place_of(&mut self, case: &str) -> u32 {
        if let Some(place) = self.places.get(case) {
            return *place;
        }
        let place = self.cases.len() as u32;
        let (own, _) = case_and_persona(case, &self.personas);
        let next = self.numbers.len() as u32;
        self.in_file.push(*self.numbers.entry(own.to_owned()).or_insert(next));
        self.cases.push(case.to_owned());
        self.places.insert(case.to_owned(), place);
        place
    }

    /// The ids of its cases.
    pub fn cases(&self) -> &[String] {
        &self.cases
    }

    /// The number of a case in the file, without its persona.
    pub(super) fn in_file(&self, case: u32) -> u32 {
        self.in_file[case as usize]
    }

    /// Whether it has a case.
    pub fn has(&self, case: &str) -> bool {
        self.places.contains_key(case)
    }

    pub(super) fn shared_cases(&self, other: &Scores) -> u32 {
        self.cases.iter().filter(|case| other.has(case)).count() as u32
    }

    /// The conversations that both sides run, with cases by their places here.
    pub(super) fn pairs(&self, other: &Scores) -> Vec<RowPair> {
        self.keyed_pairs(other).map(|((case, condition, _), rows)| (case, condition, rows)).collect()
    }

    /// The same with their repetitions.
    pub(super) fn keyed_pairs<'a>(
        &'a self,
        other: &'a Scores,
    ) -> impl Iterator<Item = (ConversationKey, [u32; 2])> + 'a {
        let theirs: Vec<Option<u32>> = self.cases.iter().map(|case| other.places.get(case).copied()).collect();
        let pair = move |(&key, &row): (&ConversationKey, &u32)| {
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
        match self.held(subject, row) {
            TrialScore::Scored(score) => Some(score),
            TrialScore::Missing | TrialScore::Planned | TrialScore::NotApplicable => None,
        }
    }

    /// A conversation's score of this, or why it has none. Of a metric nothing is known either where the conversation as a whole has no
    /// score.
    pub(super) fn held(&self, subject: &Subject, row: u32) -> TrialScore {
        let whole = self.composite[row as usize];
        let own = match subject {
            Subject::Score | Subject::Condition(_) => Some(whole),
            Subject::Metric(name) => {
                let column = self.metrics.iter().find(|(known, _)| known == name);
                column.and_then(|(_, values)| values.get(row as usize)).copied().filter(|value| !value.is_nan())
            }
        };
        match own {
            Some(score) if score.is_finite() => TrialScore::Scored(score),
            Some(MISSING) => TrialScore::Missing,
            Some(NOT_APPLICABLE) => TrialScore::NotApplicable,
            _ if whole.is_nan() => TrialScore::Planned,
            _ if whole == MISSING => TrialScore::Missing,
            _ => TrialScore::NotApplicable,
        }
    }

    pub(super) fn left_out(&self, other: &Scores, pairs: &[RowPair]) -> Excluded {
        let only = |one: &Scores, other: &Scores| -> Vec<String> {
            one.cases.iter().filter(|case| !other.has(case)).cloned().collect()
        };
        let of_shared = |one: &Scores, other: &Scores| {
            one.trials.keys().filter(|(case, ..)| other.has(&one.cases[*case as usize])).count()
        };
        let have = |[first, second]: &[u32; 2]| {
            [(self, first), (other, second)].map(|(side, row)| side.value(&Subject::Score, *row).is_some())
        };
        let lacks = |which: [bool; 2]| pairs.iter().filter(|(_, _, rows)| have(rows) == which).count() as u32;
        let is_held = |[first, second]: &[u32; 2]| {
            [(self, first), (other, second)].map(|(side, row)| side.held(&Subject::Score, *row))
                != [TrialScore::Planned; 2]
        };
        let not_held = pairs.iter().filter(|(_, _, rows)| !is_held(rows)).count() as u32;
        Excluded {
            only_first: only(self, other),
            only_second: only(other, self),
            unpaired: (of_shared(self, other) + of_shared(other, self) - 2 * pairs.len()) as u32,
            first_lacks_score: lacks([false, true]),
            second_lacks_score: lacks([true, false]),
            both_lack_score: lacks([false, false]) - not_held,
        }
    }
}

fn value(component: &Component) -> f64 {
    match component {
        Component::Scored { score, .. } => score.get(),
        Component::NotApplicable { .. } => NOT_APPLICABLE,
        Component::Missing { .. } => MISSING,
    }
}
