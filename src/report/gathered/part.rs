//! The parts of metrics, over the trials of their cases: tasks, assertions, and what a judge names.

use super::TrialLocation;
use crate::record::{Tally, TrialRecord};
use crate::score::{Component, Dimension, Item, PassLine, Score, Vacuity, Weight};

/// How many parts of a case and a dimension are kept apart; those that a judge or a conversation names are without bound.
pub(super) const MOST_PARTS: usize = 200;

/// The label of the parts beyond, which stand together.
pub(super) const OTHER_PARTS: &str = "other parts";

/// How many different reasons are kept for a task or an assertion with a group's trials.
const REASONS: usize = 3;

/// One task or assertion, with what the trials made of it.
#[derive(Debug)]
pub(in crate::report) struct PartRow {
    /// Its key within its case.
    pub(in crate::report) key: String,
    /// The turn that it is about, where it is about one.
    turn: Option<u32>,
    /// How many parts with the same key and turn stand before it in a trial.
    alike: usize,
    /// The number of the first trial that has it, and its place there.
    pub(super) first: (u32, usize),
    pub(in crate::report) label: String,
    pub(in crate::report) weight: Weight,
    /// When it came out well.
    pub(in crate::report) line: PassLine,
    /// Its results by group.
    pub(in crate::report) groups: GroupResults,
    /// It held before the first message of some trial, and counts in all of those.
    pub(in crate::report) held_before: Option<bool>,
    /// Why it was not checked whether it can fail.
    pub(in crate::report) not_checked: Option<String>,
}

/// Results by group, in the order of the groups. Most parts have one, so that there is room for no more at first.
#[derive(Debug, Default)]
pub(in crate::report) struct GroupResults(Vec<(usize, Box<PartResult>)>);

impl GroupResults {
    /// Each group with its result.
    pub(in crate::report) fn iter(&self) -> impl Iterator<Item = (usize, &PartResult)> {
        self.0.iter().map(|(group, made)| (*group, &**made))
    }

    /// The result of a group, which has none yet perhaps.
    fn of(&mut self, group: usize) -> &mut PartResult {
        let place = match self.0.binary_search_by_key(&group, |(known, _)| *known) {
            Ok(place) => place,
            Err(place) => {
                self.0.reserve_exact(usize::from(self.0.is_empty()));
                self.0.insert(place, (group, Box::default()));
                place
            }
        };
        &mut self.0[place].1
    }
}

/// The result of a task or an assertion in one group.
#[derive(Debug, Default)]
pub(in crate::report) struct PartResult {
    pub(in crate::report) tally: Tally,
    /// How many trials scored it 1.
    pub(in crate::report) whole: usize,
    /// The trials that it did not go well in, where there are such.
    pub(in crate::report) failed: Option<TrialLocation>,
    /// The lowest score.
    pub(in crate::report) lowest: Option<Score>,
    /// Why, where it was not.
    reasons: Reasons,
    /// Why it is missing in trials, where it is.
    missing: Reasons,
}

/// The first reasons, each with the first repetition that says so; sorted by that.
#[derive(Debug, Default)]
struct Reasons(Vec<(u32, String)>);

impl Reasons {
    /// Takes in a reason. The first ones are kept: in whichever order trials end, they are the same.
    fn add(&mut self, repeat: u32, why: &str) {
        let known = self.0.iter().position(|(_, known)| known == why);
        match known {
            Some(place) if self.0[place].0 <= repeat => return,
            Some(place) => self.0[place].0 = repeat,
            None => {
                let last = self.0.get(REASONS - 1);
                if last.is_some_and(|(last, known)| (*last, known.as_str()) < (repeat, why)) {
                    return;
                }
                self.0.push((repeat, why.to_owned()));
            }
        }
        self.0.sort();
        self.0.truncate(REASONS);
    }

    fn merge(&mut self, other: &Reasons) {
        other.0.iter().for_each(|(repeat, why)| self.add(*repeat, why));
    }
}

impl PartResult {
    /// Why, where it was not; each reason once, in the order of the repetitions. Where it has no score at all, why it is missing.
    pub(in crate::report) fn reasons(&self) -> Vec<&str> {
        let of = if self.tally.scored == 0 { &self.missing } else { &self.reasons };
        of.0.iter().map(|(_, why)| why.as_str()).collect()
    }

    /// Why it is missing in a trial, where it is.
    pub(in crate::report) fn missing(&self) -> Option<&str> {
        self.missing.0.first().map(|(_, why)| why.as_str())
    }

    /// The trials in which it is missing.
    pub(in crate::report) fn missing_location(&self) -> Option<TrialLocation> {
        let (repeat, _) = self.missing.0.first()?;
        Some(TrialLocation { trials: self.tally.missing, repeat: *repeat, turn: 0 })
    }

    /// Takes in the trials of another part.
    fn merge(&mut self, other: PartResult) {
        self.tally.merge(other.tally);
        self.whole += other.whole;
        match (&mut self.failed, other.failed) {
            (Some(failed), Some(others)) => failed.merge(&others),
            (failed, others) => *failed = failed.take().or(others),
        }
        self.note_score(other.lowest);
        self.reasons.merge(&other.reasons);
        self.missing.merge(&other.missing);
    }

    fn note_score(&mut self, score: Option<Score>) {
        self.lowest = match (self.lowest, score) {
            (Some(lowest), Some(score)) if lowest <= score => Some(lowest),
            (lowest, score) => score.or(lowest),
        };
    }
}

/// A trial of a group.
#[derive(Clone, Copy)]
pub(super) struct OfGroup<'a> {
    pub(super) group: usize,
    pub(super) trial: &'a TrialRecord,
}

/// The parts of a case and a dimension. Of more than there is room for, the first by their keys stand apart: in whichever order trials
/// end, they are the same.
#[derive(Debug, Default)]
pub(super) struct GatheredParts {
    /// Sorted by their keys.
    apart: Vec<PartRow>,
    /// All beyond them.
    others: Option<Box<PartRow>>,
}

impl GatheredParts {
    /// Takes in the parts of one trial's dimension. An item is the part of its key and turn that no other item of its trial is.
    pub(super) fn add(&mut self, of: OfGroup<'_>, dimension: &Dimension) {
        let line = dimension.pass_line();
        if self.apart.is_empty() {
            self.apart.reserve_exact(dimension.items.len().min(MOST_PARTS));
        }
        for (place, item) in dimension.items.iter().enumerate() {
            let before = dimension.items[..place].iter();
            let alike = before.filter(|it| it.turn == item.turn && it.key() == item.key()).count();
            let first = (of.trial.trial.number, place);
            let part = || PartRow { alike, first, ..PartRow::new(item, line) };
            let row = match self.apart.binary_search_by(|known| known.order().cmp(&(item.key(), item.turn, alike))) {
                Ok(known) => {
                    let row = &mut self.apart[known];
                    if row.note_first(first, line) {
                        (row.label, row.weight) = (item.label.clone(), item.weight);
                    }
                    row
                }
                // Those that stand apart are all before it, now and later.
                Err(MOST_PARTS) => {
                    let others = self.others.get_or_insert_with(|| Box::new(part().of_others()));
                    others.note_first(first, line);
                    others
                }
                Err(next) => {
                    self.apart.insert(next, part());
                    if self.apart.len() > MOST_PARTS {
                        self.push_out_last();
                    }
                    &mut self.apart[next]
                }
            };
            row.add(of, item, line);
        }
    }

    fn push_out_last(&mut self) {
        match (self.apart.pop(), &mut self.others) {
            (Some(last), Some(others)) => others.merge(last),
            (last, others) => *others = last.map(|last| Box::new(last.of_others())),
        }
    }

    /// In the order of the trials and of the items in each; all others last.
    pub(super) fn in_order(&self) -> Vec<&PartRow> {
        let mut parts: Vec<&PartRow> = self.apart.iter().collect();
        parts.sort_by_key(|part| part.first);
        parts.extend(self.others.as_deref());
        parts
    }
}

impl PartRow {
    fn new(item: &Item, line: PassLine) -> PartRow {
        PartRow {
            key: item.key().to_owned(),
            turn: item.turn,
            alike: 0,
            first: (0, 0),
            label: item.label.clone(),
            weight: item.weight,
            line,
            groups: GroupResults::default(),
            held_before: None,
            not_checked: None,
        }
    }

    fn order(&self) -> (&str, Option<u32>, usize) {
        (&self.key, self.turn, self.alike)
    }

    /// It is one of all others.
    fn of_others(self) -> PartRow {
        PartRow { key: String::new(), turn: None, label: OTHER_PARTS.to_owned(), weight: Weight::ONE, ..self }
    }

    /// Whether this is the first trial so far that has it: it is called as there.
    fn note_first(&mut self, first: (u32, usize), line: PassLine) -> bool {
        let is_first = first < self.first;
        if is_first {
            (self.first, self.line) = (first, line);
        }
        is_first
    }

    fn add(&mut self, OfGroup { group, trial }: OfGroup<'_>, item: &Item, line: PassLine) {
        let made = self.groups.of(group);
        made.tally.add(&item.component);
        let score = item.component.score();
        let is_whole = score == Some(Score::ONE);
        made.whole += usize::from(is_whole);
        made.note_score(score);
        if item.has_failed(line) {
            match &mut made.failed {
                Some(failed) => failed.add(trial),
                None => made.failed = Some(TrialLocation::first(trial)),
            }
            // Its label says the turn that it is about; any other part is of the whole conversation, and not of its last turn.
            if let Some(failed) = &mut made.failed {
                failed.turn = 0;
            }
        }
        let (repeat, why) = (trial.trial.repeat, item.component.why());
        match &item.component {
            Component::Missing { .. } => made.missing.add(repeat, why),
            Component::NotApplicable { .. } => {}
            Component::Scored { .. } if is_whole => {}
            Component::Scored { .. } => made.reasons.add(repeat, why),
        }
        match &item.vacuity {
            Some(Vacuity::Vacuous | Vacuity::HeldBefore) => {
                self.held_before = Some(self.held_before.unwrap_or(true) && is_whole);
            }
            Some(Vacuity::NotChecked { why }) => self.note_not_checked(why.clone()),
            Some(Vacuity::Idle) | None => {}
        }
    }

    fn note_not_checked(&mut self, why: String) {
        if self.not_checked.as_ref().is_none_or(|known| why < *known) {
            self.not_checked = Some(why);
        }
    }

    /// Takes in the trials of another part.
    fn merge(&mut self, other: PartRow) {
        self.note_first(other.first, other.line);
        for (group, made) in other.groups.0 {
            self.groups.of(group).merge(*made);
        }
        self.held_before = match (self.held_before, other.held_before) {
            (Some(own), Some(others)) => Some(own && others),
            (own, others) => own.or(others),
        };
        other.not_checked.into_iter().for_each(|why| self.note_not_checked(why));
    }
}
