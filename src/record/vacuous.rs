//! Assertions, and figures, that may say nothing of the conversations of a run.

use std::collections::BTreeMap;

use super::TrialRecord;
use crate::score::{Item, Vacuity, Weight};

/// An assertion of a run: its case, and its key within the case.
pub type AssertionKey<'a> = (&'a str, &'a str);

/// The assertions that may say nothing of the conversations, by all trials of their cases.
#[derive(Debug, Clone, Default)]
pub struct Doubts {
    cases: BTreeMap<String, Vec<AssertionDoubt>>,
    figures: BTreeMap<String, FigureDoubt>,
    /// Whether what held before the conversation can be what earlier conversations left.
    pub may_be_left_over: bool,
}

/// The state of one assertion over all trials.
#[derive(Debug, Clone, Default)]
struct AssertionDoubt {
    key: String,
    /// How many assertions with the same key stand before it.
    alike: usize,
    /// Its first place in a trial: some are evaluated in one condition alone.
    place: usize,
    /// It was checked, and could have failed.
    can_fail: bool,
    /// It was checked, and could not have failed.
    is_vacuous: bool,
    /// It held before the first message of some conversation.
    held_before: bool,
}

/// What the figures of a case say of the agent, over all of its trials that have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FigureDoubt {
    /// They could not have been others.
    Vacuous,
    /// An agent that does nothing gets no less.
    Idle,
    /// Something at least.
    None,
}

impl Doubts {
    /// Takes in a trial.
    pub(super) fn add(&mut self, trial: &TrialRecord) {
        self.add_figure(trial);
        let before = trial.evidence.as_ref().and_then(|evidence| evidence.before.as_ref());
        self.may_be_left_over |= before.is_some_and(|before| before.may_be_left_over);
        let items = trial.scorecard.as_ref().and_then(|card| card.dimension("assertions"));
        let Some(items) = items.map(|dimension| &dimension.items).filter(|items| !items.is_empty()) else { return };
        let case = match self.cases.get_mut(&trial.trial.case) {
            Some(case) => case,
            None => self.cases.entry(trial.trial.case.clone()).or_default(),
        };
        for (place, item) in items.iter().enumerate() {
            let alike = items[..place].iter().filter(|it| it.key() == item.key()).count();
            let is_it = |doubt: &AssertionDoubt| doubt.alike == alike && doubt.key == item.key();
            // Nearly always it stands where it stood before.
            let is_there = case.get(place).is_some_and(is_it);
            let known = if is_there { Some(place) } else { case.iter().position(is_it) };
            let known = known.unwrap_or_else(|| {
                case.push(AssertionDoubt { key: item.key().to_owned(), alike, place, ..AssertionDoubt::default() });
                case.len() - 1
            });
            let doubt = &mut case[known];
            doubt.place = doubt.place.min(place);
            let is_vacuous = item.vacuity == Some(Vacuity::Vacuous);
            doubt.held_before |= is_unshown(item);
            doubt.is_vacuous |= is_vacuous;
            // One that is missing for another reason says nothing of what it can do.
            doubt.can_fail |= !is_vacuous && (item.component.score().is_some() || is_unshown(item));
        }
    }

    fn add_figure(&mut self, trial: &TrialRecord) {
        let counts = trial.outcome.as_ref().is_some_and(|outcome| outcome.counts());
        let Some(card) = trial.scorecard.as_ref().filter(|card| counts && card.score().is_some()) else { return };
        let own = match card.vacuity() {
            Some(Vacuity::Vacuous) => FigureDoubt::Vacuous,
            Some(_) => FigureDoubt::Idle,
            None => FigureDoubt::None,
        };
        match self.figures.get_mut(&trial.trial.case) {
            Some(known) if *known != own => {
                let says_something = [*known, own].contains(&FigureDoubt::None);
                *known = if says_something { FigureDoubt::None } else { FigureDoubt::Idle };
            }
            Some(_) => {}
            None => drop(self.figures.insert(trial.trial.case.clone(), own)),
        }
    }

    /// Whether some assertion or figure may say nothing of the conversations.
    pub(super) fn say_something(&self) -> bool {
        !(self.vacuous().is_empty() && self.held_before().is_empty() && self.vacuous_cases().is_empty())
    }

    /// The cases of which no figure could have been another one, whatever the agent did.
    pub fn vacuous_cases(&self) -> Vec<&str> {
        self.cases_with(FigureDoubt::Vacuous)
    }

    /// The other cases in which an agent that does nothing gets no less.
    pub fn idle_cases(&self) -> Vec<&str> {
        self.cases_with(FigureDoubt::Idle)
    }

    /// Whether there are figures, and an agent that does nothing gets no less in any case.
    pub fn rests_on_nothing(&self) -> bool {
        !self.figures.is_empty() && self.figures.values().all(|doubt| *doubt != FigureDoubt::None)
    }

    fn cases_with(&self, doubt: FigureDoubt) -> Vec<&str> {
        self.figures.iter().filter(|(_, own)| **own == doubt).map(|(case, _)| case.as_str()).collect()
    }

    /// The assertions that held wherever they were checked and could not have failed anywhere.
    pub fn vacuous(&self) -> Vec<AssertionKey<'_>> {
        self.keys(|doubt| doubt.is_vacuous && !doubt.can_fail)
    }

    /// Whether there are assertions, and none of them could have failed.
    pub fn nothing_can_fail(&self) -> bool {
        let checked = self.keys(|doubt| doubt.can_fail || doubt.is_vacuous);
        !checked.is_empty() && checked.len() == self.vacuous().len()
    }

    /// The other assertions that held before the first message of some conversation.
    pub fn held_before(&self) -> Vec<AssertionKey<'_>> {
        self.keys(|doubt| doubt.held_before && (doubt.can_fail || !doubt.is_vacuous))
    }

    fn keys(&self, is_one: impl Fn(&AssertionDoubt) -> bool) -> Vec<AssertionKey<'_>> {
        let mut keys = Vec::new();
        for (case, doubts) in &self.cases {
            let mut doubts: Vec<&AssertionDoubt> = doubts.iter().filter(|doubt| is_one(doubt)).collect();
            doubts.sort_by_key(|doubt| (doubt.place, &doubt.key, doubt.alike));
            keys.extend(doubts.into_iter().map(|doubt| (case.as_str(), doubt.key.as_str())));
        }
        keys
    }
}

impl TrialRecord {
    /// Whether it has no figure, and only for assertions that held before the conversation.
    pub(super) fn is_unscored_for_what_held_before(&self) -> bool {
        let Some(card) = self.scorecard.as_ref().filter(|card| card.composite.is_missing()) else { return false };
        let counts = self.outcome.as_ref().is_some_and(|outcome| outcome.counts());
        let mut missing =
            card.dimensions.iter().filter(|it| it.weight > Weight::ZERO && it.component.is_missing()).peekable();
        counts
            && missing.peek().is_some()
            && missing.all(|dimension| {
                let items = dimension.items.iter().filter(|it| it.weight > Weight::ZERO && it.component.is_missing());
                dimension.metric() == "assertions" && items.into_iter().all(is_unshown)
            })
    }
}

/// Whether it held before the conversation.
fn is_unshown(item: &Item) -> bool {
    matches!(item.vacuity, Some(Vacuity::Vacuous | Vacuity::HeldBefore))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Component, Score};

    fn trial(case: &str, dimensions: &[(&str, Option<Vacuity>)]) -> TrialRecord {
        use crate::evidence::{Condition, TrialId};
        use crate::score::{Dimension, Outcome, Scorecard};
        let dimension = |(name, vacuity): &(&str, Option<Vacuity>)| Dimension {
            vacuity: vacuity.clone(),
            ..Dimension::new(*name, Weight::ONE, Component::scored(Score::ONE, "passes"))
        };
        let dimensions = dimensions.iter().map(dimension).collect();
        let (model, condition) = ("m".to_owned(), Condition::WithoutFacts);
        let id = TrialId { number: 1, case: case.to_owned(), model, condition, repeat: 1 };
        let composite = Component::scored(Score::ONE, "all pass");
        let card = Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite };
        TrialRecord { outcome: Some(Outcome::Graded), scorecard: Some(card), ..TrialRecord::planned(id) }
    }

    #[test]
    fn a_case_says_something_where_one_of_its_figures_does() {
        let (vacuous, idle) = (Some(Vacuity::Vacuous), Some(Vacuity::Idle));
        let mut doubts = Doubts::default();
        assert!(!doubts.rests_on_nothing(), "there is no figure");
        doubts.add(&trial("constant", &[("rhai", vacuous.clone())]));
        doubts.add(&trial("mixed", &[("rhai", vacuous.clone())]));
        doubts.add(&trial("mixed", &[("rhai", vacuous.clone()), ("timing", None)]));
        doubts.add(&trial("idle", &[("trajectory", idle.clone()), ("rhai", vacuous.clone())]));
        assert_eq!(doubts.vacuous_cases(), ["constant"]);
        assert_eq!(doubts.idle_cases(), ["idle", "mixed"]);
        assert!(doubts.rests_on_nothing());
        doubts.add(&trial("idle", &[("trajectory", None)]));
        doubts.add(&trial("constant", &[("tasks", None), ("rhai", vacuous)]));
        assert_eq!((doubts.vacuous_cases(), doubts.idle_cases()), (vec![], vec!["mixed"]));
        assert!(!doubts.rests_on_nothing());
    }

    #[test]
    fn an_assertion_that_is_evaluated_in_one_condition_alone_stands_once() {
        let with = |keys: &[&str]| {
            let held = trial("case", &[("assertions", None)]);
            let item = |key: &&str| Item {
                vacuity: Some(Vacuity::Vacuous),
                ..Item::new(*key, Component::scored(Score::ONE, ""))
            };
            let mut card = held.scorecard.unwrap();
            card.dimensions[0].items = keys.iter().map(item).collect();
            TrialRecord { scorecard: Some(card), ..held }
        };
        let trials = [with(&["a", "b", "b"]), with(&["b"]), with(&["a", "b", "b"]), with(&["b"])];
        for order in [[0, 1, 2, 3], [1, 0, 3, 2], [3, 1, 2, 0]] {
            let mut doubts = Doubts::default();
            order.iter().for_each(|at| doubts.add(&trials[*at]));
            let keys: Vec<&str> = doubts.vacuous().into_iter().map(|(_, key)| key).collect();
            assert_eq!(keys, ["a", "b", "b"], "{order:?}");
        }
    }

    #[test]
    fn only_what_held_before_is_unshown() {
        let item = |vacuity| Item { vacuity, ..Item::new("a", Component::scored(Score::ONE, "holds")) };
        assert!(is_unshown(&item(Some(Vacuity::HeldBefore))) && is_unshown(&item(Some(Vacuity::Vacuous))));
        assert!(!is_unshown(&item(None)) && !is_unshown(&item(Some(Vacuity::NotChecked { why: "w".to_owned() }))));
    }
}
