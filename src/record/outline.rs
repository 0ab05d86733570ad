//! Whether a run is complete, for whoever takes of it its trials alone: of each group some bytes are held, and none of its figures.

use super::planned_trials::PlannedTrials;
use super::{DimensionTally, Overview, TrialGroup, TrialRecord, Verdict};
use crate::score::Outcome;

/// Whether the groups of a run have all that a verdict needs.
#[derive(Debug, Clone, Default)]
pub(super) struct RunOutline {
    groups: Vec<GroupOutline>,
}

/// What decides whether one group has; a [`TrialGroup`] tells the same of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GroupOutline {
    planned: u32,
    scored: u32,
    persona_invalid: u32,
    held_before: u32,
    lacks_figure: bool,
}

/// How a run ended, without its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// Whether it has come to its end.
    pub has_ended: bool,
    /// Whether lines of its journal are not as they were written, or missing.
    pub is_damaged: bool,
    /// The verdict, where it is that the run is incomplete or was interrupted.
    pub broken_off: Option<Verdict>,
}

impl RunOutline {
    /// The groups of these trials.
    pub(super) fn new(plan: &PlannedTrials) -> RunOutline {
        let group = |planned: usize| GroupOutline { planned: planned as u32, ..GroupOutline::default() };
        RunOutline { groups: plan.counts().into_iter().map(group).collect() }
    }

    /// Takes in a trial of a group.
    pub(super) fn add(&mut self, group: usize, trial: &TrialRecord) {
        let Some(group) = self.groups.get_mut(group) else { return };
        let scored = trial.why_no_score().is_none()
            && trial.scorecard.as_ref().is_some_and(|card| card.composite.score().is_some());
        group.scored += u32::from(scored);
        group.persona_invalid += u32::from(trial.is_persona_invalid());
        group.held_before += u32::from(trial.is_unscored_for_what_held_before());
        let mut dimensions = trial.scorecard.iter().flat_map(|card| &card.dimensions);
        group.lacks_figure |=
            dimensions.any(|dimension| dimension.threshold.is_some() && dimension.component.is_missing());
    }

    /// A trial of a group that was planned is none of the run any more, or is one again.
    pub(super) fn plan(&mut self, group: usize, is_planned: bool) {
        if let Some(group) = self.groups.get_mut(group) {
            group.planned = if is_planned { group.planned + 1 } else { group.planned.saturating_sub(1) };
        }
    }
}

impl GroupOutline {
    /// Whether a figure is missing in the group. A conversation that the persona spoilt is left out, as long as another one of its kind
    /// was run, and where the gate fails for what held before, those that miss a figure for that alone.
    pub(super) fn lacks_figure(&self, fails_for_what_held_before: bool) -> bool {
        self.lacks_scores(fails_for_what_held_before) || self.lacks_figure
    }

    /// Whether a conversation has no score, those left out that are excused.
    pub(super) fn lacks_scores(&self, fails_for_what_held_before: bool) -> bool {
        let spoilt = if self.scored > 0 { self.persona_invalid } else { 0 };
        let excused = spoilt + if fails_for_what_held_before { self.held_before } else { 0 };
        self.scored + excused < self.planned
    }
}

impl TrialGroup {
    /// What decides whether it has all that a verdict needs.
    pub(super) fn outline(&self) -> GroupOutline {
        GroupOutline {
            planned: self.planned as u32,
            scored: self.composite.scored as u32,
            persona_invalid: self.persona_invalid as u32,
            held_before: self.held_before as u32,
            lacks_figure: self.dimensions.iter().any(DimensionTally::lacks_figure),
        }
    }
}

impl RunEnd {
    /// The end of a run of which these are all trials.
    pub(super) fn new(run: &Overview, outline: &RunOutline) -> RunEnd {
        let excuses = run.fails_for_what_held_before();
        let is_incomplete = Verdict::lacks_whole(run) || outline.groups.iter().any(|group| group.lacks_figure(excuses));
        RunEnd {
            has_ended: run.summary.finished_at.is_some() && !run.summary.interrupted,
            is_damaged: run.is_damaged(),
            broken_off: match run.summary.interrupted {
                true => Some(Verdict::Interrupted),
                false => is_incomplete.then_some(Verdict::Incomplete),
            },
        }
    }
}

impl TrialRecord {
    /// Whether it does not count, because the persona did not play its part.
    pub(super) fn is_persona_invalid(&self) -> bool {
        matches!(self.outcome, Some(Outcome::PersonaInvalid { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::{Entry, FORMAT_VERSION, Fold, Provenance};
    use crate::score::{Component, Dimension, Item, Score, Scorecard, Vacuity, Weight};

    /// How conversations can end, each with its scorecard; `None` of one that is cut off.
    fn endings() -> Vec<Option<(Outcome, Option<Scorecard>)>> {
        let error = || "an error".to_owned();
        let card = |composite, dimensions| Some(Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite });
        let good = || Component::scored(Score::ONE, "");
        let own = |component, threshold| Dimension { threshold, ..Dimension::new("own", Weight::ZERO, component) };
        let held = Item { vacuity: Some(Vacuity::HeldBefore), ..Item::new("holds", Component::missing("held")) };
        let held =
            Dimension { items: vec![held], ..Dimension::new("assertions", Weight::ONE, Component::missing("held")) };
        let informs = Dimension { name: "informs".to_owned(), ..own(Component::missing("no"), None) };
        vec![
            None,
            Some((Outcome::Graded, card(good(), vec![own(good(), Score::new(0.5))]))),
            Some((Outcome::Graded, card(good(), vec![own(Component::missing("no"), Score::new(0.5))]))),
            Some((Outcome::Graded, card(good(), vec![informs]))),
            Some((Outcome::Graded, card(Component::missing("no"), vec![own(good(), Score::new(0.5))]))),
            Some((Outcome::Graded, card(Component::missing("held"), vec![held]))),
            Some((Outcome::AgentFailed { error: error() }, card(good(), Vec::new()))),
            Some((Outcome::PersonaInvalid { error: error() }, card(good(), Vec::new()))),
            Some((Outcome::PersonaInvalid { error: error() }, None)),
            Some((Outcome::JudgeFailed { error: error() }, card(Component::missing("no"), Vec::new()))),
            Some((Outcome::Broken { error: error() }, None)),
        ]
    }

    #[test]
    fn an_outline_says_of_a_group_what_its_tallies_say() {
        let endings = endings();
        for first in 0..endings.len() {
            for second in 0..endings.len() {
                let id = |number| TrialId {
                    number,
                    case: "c".to_owned(),
                    model: "m".to_owned(),
                    condition: Condition::WithFacts,
                    repeat: number,
                };
                let trials: PlannedTrials = [1, 2].map(id).into_iter().collect();
                let provenance = Box::new(Provenance { models: vec!["m".to_owned()], ..Provenance::default() });
                let (at, version) = (chrono::DateTime::UNIX_EPOCH, FORMAT_VERSION);
                let mut outline = RunOutline::new(&trials);
                let (id, templates, job) = ("a".to_owned(), Default::default(), None);
                let begun = Entry::RunStarted { version, id, at, provenance, job, templates, trials };
                let mut fold = Fold::begin(begun).unwrap();
                for (trial, ending) in [(1, first), (2, second)] {
                    let ended = endings[ending].clone();
                    let ended =
                        ended.map(|(outcome, scorecard)| Entry::TrialFinished { trial, at, outcome, scorecard });
                    for entry in [Entry::TrialStarted { trial, at, case: None }].into_iter().chain(ended) {
                        fold.take(entry).into_iter().for_each(|(group, trial)| outline.add(group, &trial));
                    }
                }
                let run = fold.end(|group, trial| outline.add(group, &trial));
                assert_eq!(outline.groups, [run.groups[0].outline()], "{first} {second}");
            }
        }
    }
}
