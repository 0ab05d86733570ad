//! The scores of one side.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Excluded;
use super::columns::{CaseNames, ConversationKey, ScoreColumn, TrialRows};
use super::judged::Subject;
use crate::evidence::{Condition, TranscriptDigest, case_and_persona};
use crate::record::TrialRecord;
use crate::score::{Component, Outcome};

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

/// The scores of one side, conversation by conversation. Of each conversation four bytes are held, and one for its score and each of its
/// metrics, or eight where they have many different values; of a case its name and twelve bytes.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// The personas of its cases.
    personas: Vec<String>,
    cases: CaseNames,
    /// The number of each case in the file, the same for all its personas: cases of the file are the independent units. Their places
    /// where there are no personas.
    in_file: Vec<u32>,
    numbers: HashMap<String, u32>,
    /// Each conversation's row.
    trials: TrialRows,
    composite: ScoreColumn,
    /// The metrics in the order in which they come, each with a row a conversation.
    metrics: Vec<(String, ScoreColumn)>,
    /// The words, a row a conversation, where it was read.
    digests: Vec<TranscriptDigest>,
}

impl Scores {
    /// The scores of a run with these personas, without any conversation yet.
    pub fn new(personas: &[String]) -> Scores {
        Scores { personas: personas.to_vec(), ..Scores::default() }
    }

    /// The cases to come, in the order of the plan. In whichever order conversations end, those are the places of their cases, so that
    /// nothing that is drawn, and no list, depends on it.
    pub fn plan<'a>(&mut self, cases: impl IntoIterator<Item = &'a str>) {
        let added = self.cases.extend(cases);
        added.for_each(|place| self.number(place));
    }

    /// The same without its conversations.
    pub fn without_trials(&self) -> Scores {
        let mut scores = Scores::new(&self.personas);
        scores.plan(self.cases.all().iter().map(String::as_str));
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
                self.metrics.push((dimension.name.clone(), ScoreColumn::default()));
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
        let (place, is_new) = self.cases.place_of(case);
        if is_new {
            self.number(place);
        }
        place
    }

    /// Finds the number of the next case in the file.
    fn number(&mut self, place: u32) {
        if !self.personas.is_empty() {
            let (own, _) = case_and_persona(&self.cases.all()[place as usize], &self.personas);
            let next = self.numbers.len() as u32;
            self.in_file.push(*self.numbers.entry(own.to_owned()).or_insert(next));
        }
    }

    /// The ids of its cases.
    pub fn cases(&self) -> &[String] {
        self.cases.all()
    }

    /// The same, to be held by what outlives this.
    pub(super) fn shared_names(&self) -> Arc<Vec<String>> {
        Arc::clone(self.cases.all())
    }

    /// The number of a case in the file, without its persona.
    pub(super) fn in_file(&self, case: u32) -> u32 {
        self.in_file.get(case as usize).copied().unwrap_or(case)
    }

    /// Whether it has a case.
    pub fn has(&self, case: &str) -> bool {
        self.cases.find(case).is_some()
    }

    pub(super) fn shared_cases(&self, other: &Scores) -> u32 {
        self.cases().iter().filter(|case| other.has(case)).count() as u32
    }

    /// The subjects of which both sides have a score.
    pub(super) fn subjects(&self, other: &Scores) -> Vec<Subject> {
        let conditions: BTreeSet<Condition> = self.trials.iter().map(|((_, condition, _), _)| condition).collect();
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
        let whole = self.composite.get(row).unwrap_or(f64::NAN);
        let own = match subject {
            Subject::Score | Subject::Condition(_) => Some(whole),
            Subject::Metric(name) => {
                let column = self.metrics.iter().find(|(known, _)| known == name);
                column.and_then(|(_, values)| values.get(row)).filter(|value| !value.is_nan())
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
}

/// The scores of two sides beside each other.
pub(super) struct PairedScores<'a> {
    pub(super) first: &'a Scores,
    pub(super) second: &'a Scores,
    /// The place of each of the first side's cases on the second.
    theirs: Vec<Option<u32>>,
}

impl<'a> PairedScores<'a> {
    pub(super) fn new(first: &'a Scores, second: &'a Scores) -> PairedScores<'a> {
        let theirs = first.cases().iter().map(|case| second.cases.find(case)).collect();
        PairedScores { first, second, theirs }
    }

    /// The conversations that both sides run, in the order of the first side's cases, with the rows of both.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (ConversationKey, [u32; 2])> + Clone {
        self.first.trials.iter().filter_map(move |(key, row)| {
            let (case, condition, repeat) = key;
            let theirs = self.theirs[case as usize]?;
            let other = self.second.trials.row((theirs, condition, repeat))?;
            Some((key, [row, other]))
        })
    }

    /// What both sides have of this in a pair.
    pub(super) fn held(&self, subject: &Subject, rows: [u32; 2]) -> [TrialScore; 2] {
        [self.first.held(subject, rows[0]), self.second.held(subject, rows[1])]
    }

    /// The scores of both sides in a pair; `None` where one of them has none.
    pub(super) fn values(&self, subject: &Subject, rows: [u32; 2]) -> Option<[f64; 2]> {
        Some([self.first.value(subject, rows[0])?, self.second.value(subject, rows[1])?])
    }

    pub(super) fn left_out(&self) -> Excluded {
        let PairedScores { first, second, .. } = self;
        let only = |one: &Scores, other: &Scores| -> Vec<String> {
            one.cases().iter().filter(|case| !other.has(case)).cloned().collect()
        };
        let of_shared = |one: &Scores, other: &Scores| {
            one.trials.iter().filter(|((case, ..), _)| other.has(&one.cases()[*case as usize])).count()
        };
        let mut left_out =
            Excluded { only_first: only(first, second), only_second: only(second, first), ..Excluded::default() };
        let mut pairs = 0;
        for (_, rows) in self.pairs() {
            pairs += 1;
            match self.held(&Subject::Score, rows) {
                [TrialScore::Scored(_), TrialScore::Scored(_)] | [TrialScore::Planned, TrialScore::Planned] => {}
                [TrialScore::Scored(_), _] => left_out.second_lacks_score += 1,
                [_, TrialScore::Scored(_)] => left_out.first_lacks_score += 1,
                _ => left_out.both_lack_score += 1,
            }
        }
        left_out.unpaired = (of_shared(first, second) + of_shared(second, first) - 2 * pairs) as u32;
        left_out
    }
}

fn value(component: &Component) -> f64 {
    match component {
        Component::Scored { score, .. } => score.get(),
        Component::NotApplicable { .. } => NOT_APPLICABLE,
        Component::Missing { .. } => MISSING,
    }
}
