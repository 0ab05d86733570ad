//! The parts of metrics, over the trials of their cases: tasks, assertions, and what a judge names.

use std::collections::BTreeMap;

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
    /// Its results by group. Most have one, and a map has room for several: what has no content yet must be small.
    pub(in crate::report) groups: BTreeMap<usize, Box<PartResult>>,
    /// It held before the first message of some trial, and counts in all of those.
    pub(in crate::report) held_before: Option<bool>,
    /// Why it was not checked whether it can fail.
    pub(in crate::report) not_checked: Option<String>,
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
    /// Why, where it was not, with the first repetition that says so; sorted by that.
    reasons: Vec<(u32, String)>,
    /// Why it is missing in a trial, where it is, with the first such repetition.
    missing: Option<(u32, String)>,
}

impl PartResult {
    /// Why, where it was not; each reason once, in the order of the repetitions.
    pub(in crate::report) fn reasons(&self) -> Vec<&str> {
        self.reasons.iter().map(|(_, why)| why.as_str()).collect()
    }

    /// Why it is missing in a trial, where it is.
    pub(in crate::report) fn missing(&self) -> Option<&str> {
        self.missing.as_ref().map(|(_, why)| why.as_str())
    }

    /// Takes in a reason. The first ones are kept: in whichever order trials end, they are the same.
    fn add_reason(&mut self, repeat: u32, why: &str) {
        let known = self.reasons.iter().position(|(_, known)| known == why);
        match known {
            Some(place) if self.reasons[place].0 <= repeat => return,
            Some(place) => self.reasons[place].0 = repeat,
            None => {
                let last = self.reasons.get(REASONS - 1);
                if last.is_some_and(|(last, known)| (*last, known.as_str()) < (repeat, why)) {
                    return;
                }
                self.reasons.push((repeat, why.to_owned()));
            }
        }
        self.reasons.sort();
        self.reasons.truncate(REASONS);
    }
}

/// A trial of a group.
#[derive(Clone, Copy)]
pub(super) struct OfGroup<'a> {
    pub(super) group: usize,
    pub(super) trial: &'a TrialRecord,
}

/// Takes in the parts of one trial's dimension. An item is the part of its key and turn that no other item of its trial is; those
/// beyond the most that are kept apart are one.
pub(super) fn add_all(parts: &mut Vec<PartRow>, of: OfGroup<'_>, dimension: &Dimension) {
    for (hint, item) in dimension.items.iter().enumerate() {
        let before = dimension.items[..hint].iter();
        let alike = before.filter(|it| it.turn == item.turn && it.key() == item.key()).count();
        let is_it = |part: &PartRow| part.alike == alike && part.turn == item.turn && part.key == item.key();
        let place = match parts.get(hint).is_some_and(is_it) {
            true => Some(hint),
            false => parts.iter().position(is_it),
        };
        let place = place.or((parts.len() > MOST_PARTS).then_some(MOST_PARTS)).unwrap_or_else(|| {
            let first = (of.trial.trial.number, hint);
            let part = PartRow { alike, first, ..PartRow::new(item, dimension.pass_line()) };
            parts.push(if parts.len() == MOST_PARTS { part.of_others() } else { part });
            parts.len() - 1
        });
        let first = (of.trial.trial.number, hint);
        let part = &mut parts[place];
        if first < part.first && place < MOST_PARTS {
            part.first = first;
            (part.label, part.weight, part.line) = (item.label.clone(), item.weight, dimension.pass_line());
        }
        part.add(of, item);
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
            groups: BTreeMap::new(),
            held_before: None,
            not_checked: None,
        }
    }

    /// The part of all others, which stands last.
    fn of_others(self) -> PartRow {
        let (key, label) = (String::new(), OTHER_PARTS.to_owned());
        PartRow { key, turn: None, label, alike: usize::MAX, first: (u32::MAX, usize::MAX), ..self }
    }

    fn add(&mut self, OfGroup { group, trial }: OfGroup<'_>, item: &Item) {
        let made = self.groups.entry(group).or_default();
        made.tally.add(&item.component);
        let score = item.component.score();
        let is_whole = score == Some(Score::ONE);
        made.whole += usize::from(is_whole);
        made.lowest = match (made.lowest, score) {
            (Some(lowest), Some(score)) if lowest <= score => Some(lowest),
            (lowest, score) => score.or(lowest),
        };
        if item.has_failed(self.line) {
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
        if item.component.is_missing() && made.missing.as_ref().is_none_or(|it| (repeat, why) < (it.0, it.1.as_str())) {
            made.missing = Some((repeat, why.to_owned()));
        }
        if !is_whole && !matches!(item.component, Component::NotApplicable { .. }) {
            made.add_reason(repeat, why);
        }
        match &item.vacuity {
            Some(Vacuity::Vacuous | Vacuity::HeldBefore) => {
                self.held_before = Some(self.held_before.unwrap_or(true) && is_whole);
            }
            Some(Vacuity::NotChecked { why }) => {
                if self.not_checked.as_ref().is_none_or(|known| why < known) {
                    self.not_checked = Some(why.clone());
                }
            }
            Some(Vacuity::Idle) | None => {}
        }
    }
}
