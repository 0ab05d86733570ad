//! Whether a run is complete, for whoever takes of it its trials alone: of each group some bytes are held, and none of its figures.

use super::planned_trials::PlannedTrials;
use super::{Overview, TrialRecord, Verdict};
use crate::score::{Outcome, VacuousGate};

/// Whether the groups of a run have all that a verdict needs.
#[derive(Debug, Clone, Default)]
pub(super) struct RunOutline {
    groups: Vec<GroupOutline>,
}

/// Whether one group has; as the tallies of a [`super::TrialGroup`] say it.
#[derive(Debug, Clone, Copy, Default)]
struct GroupOutline {
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

    /// Whether a figure is missing in a group. A conversation that the persona spoilt is left out, as long as another one of its kind
    /// was run, and where the gate fails for what held before, those that miss a figure for that alone.
    pub(super) fn lacks_figure(&self, fails_for_what_held_before: bool) -> bool {
        self.groups.iter().any(|group| {
            let spoilt = if group.scored > 0 { group.persona_invalid } else { 0 };
            let excused = spoilt + if fails_for_what_held_before { group.held_before } else { 0 };
            group.scored + excused < group.planned || group.lacks_figure
        })
    }
}

impl RunEnd {
    /// The end of a run of which these are all trials.
    pub(super) fn new(run: &Overview, outline: &RunOutline) -> RunEnd {
        let fails_for_what_held_before =
            run.summary.provenance.vacuous == VacuousGate::Fail && run.doubts.say_something();
        let is_incomplete = Verdict::lacks_whole(run) || outline.lacks_figure(fails_for_what_held_before);
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
