//! The trials of one case and model in one condition, added up.

use super::judge_check::{self, TaskTally};
use super::planned_trials::{PlannedGroupName, PlannedTrials};
use super::repeated::{self, PartTally};
use super::reply_times::ReplyTimes;
use super::{MeanFigure, TrialRecord};
use crate::evidence::{Condition, TrialId};
use crate::score::{Component, Item, Outcome, Score, Weight};
use crate::statistics::{Cell, Interval, PreciseSum, Sums};

/// The trials of one case and model in one condition, added up.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialGroup {
    /// The case's id.
    pub case: String,
    /// The agent's model.
    pub model: String,
    /// The condition.
    pub condition: Condition,
    /// How many trials it has.
    pub planned: usize,
    /// How many of them came to their end.
    pub(super) ended: usize,
    /// How many of them have no figure, and only for assertions that held before the conversation.
    pub(super) held_before: usize,
    /// How many of them do not count, because the persona did not play its part.
    pub(super) persona_invalid: usize,
    /// How many of them have a scorecard.
    pub graded: usize,
    /// The trials' figures.
    pub composite: Tally,
    /// The dimensions in the order of the scorecards.
    pub dimensions: Vec<DimensionTally>,
    /// The tasks, in the order of the case.
    pub(super) tasks: Vec<TaskTally>,
    /// The parts of its metrics, where trials are repeated.
    pub(super) parts: Vec<PartTally>,
    /// How many tries of messages failed, in all trials.
    pub failure_count: u32,
    /// The sum of the penalties for them.
    pub penalties: PreciseSum,
    /// Milliseconds of failed tries.
    pub failed_ms: PreciseSum,
    /// Milliseconds of the waits after them.
    pub waited_ms: PreciseSum,
    /// How many of them pass or do not, each by itself.
    pub decided: u32,
    /// How many of those pass.
    pub passed: u32,
    /// How many assertions failed, in all trials.
    pub failed_assertions: u32,
    /// Milliseconds of the replies.
    pub(super) latencies: ReplyTimes,
}

/// One dimension of several trials.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionTally {
    /// Its name.
    pub name: String,
    /// The metric, where the job calls it otherwise.
    renamed: Option<Box<str>>,
    /// Its weight.
    pub weight: Weight,
    /// The least mean with which it passes, where the job asks for one.
    pub threshold: Option<Score>,
    /// Whether it has parts: tasks, assertions.
    pub has_items: bool,
    /// The sum of its components.
    pub tally: Tally,
    /// How much of that sum is of trials in which the agent failed: nothing of it counts for the threshold.
    failed: PreciseSum,
    /// The name of the options that the job names for comparison; `None` where no trial comes out otherwise with them.
    pub alternative: Option<String>,
    /// The sum of the components with those options, once a trial comes out otherwise with them; until then it is the same sum.
    there: Option<Box<Tally>>,
}

impl DimensionTally {
    /// The metric's name.
    pub fn metric(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.name)
    }

    /// Whether its mean is below the threshold that the job asks for.
    pub fn is_below(&self) -> bool {
        self.threshold.zip(self.reached()).is_some_and(|(threshold, mean)| mean.is_below(threshold))
    }

    /// The figure that must reach the threshold: the mean, with 0 for each trial in which the agent failed.
    pub fn reached(&self) -> Option<Score> {
        self.tally.mean_without(self.failed)
    }

    /// Where it comes out otherwise with other options: their name, the score here and there, and whether only one passes.
    pub fn differs(&self) -> Option<(&str, Option<Score>, Option<Score>, bool)> {
        let name = self.alternative.as_deref()?;
        let other = self.there.as_deref().unwrap_or(&self.tally);
        let (here, there) = (self.tally.mean(), other.mean());
        let passes = |tally: &Tally, mean: Option<Score>| {
            tally.missing == 0
                && self.threshold.is_none_or(|threshold| mean.is_none_or(|mean| !mean.is_below(threshold)))
        };
        Some((name, here, there, passes(&self.tally, here) != passes(other, there)))
    }

    /// Whether a trial has no figure of it, and one is asked for.
    pub(super) fn lacks_figure(&self) -> bool {
        self.threshold.is_some() && self.tally.missing > 0
    }
}

/// Components of several trials, added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// How many are scored.
    pub scored: usize,
    /// How many are missing.
    pub missing: usize,
    /// How many don't apply.
    pub not_applicable: usize,
    sum: PreciseSum,
    /// The scores, to tell how far they spread.
    pub(super) values: Sums,
    first: Option<Box<Component>>,
    missing_one: Option<Box<Component>>,
}

impl Tally {
    /// Takes in one more.
    pub fn add(&mut self, component: &Component) {
        match component {
            Component::Scored { score, .. } => {
                self.scored += 1;
                self.sum.add(score.get());
                self.values.add(score.get());
            }
            Component::NotApplicable { .. } => self.not_applicable += 1,
            Component::Missing { .. } => {
                self.missing += 1;
                keep_first(&mut self.missing_one, component);
            }
        }
        keep_first(&mut self.first, component);
    }

    /// Takes in all of another.
    pub fn merge(&mut self, other: Tally) {
        self.scored += other.scored;
        self.missing += other.missing;
        self.not_applicable += other.not_applicable;
        self.sum.add_all(other.sum);
        self.values.add_all(other.values);
        other.first.iter().for_each(|component| keep_first(&mut self.first, component));
        other.missing_one.iter().for_each(|component| keep_first(&mut self.missing_one, component));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.scored + self.missing + self.not_applicable
    }

    /// The mean of those that are scored.
    pub fn mean(&self) -> Option<Score> {
        self.mean_without(PreciseSum::default())
    }

    /// The 95 % interval of that mean over the repetitions of one case; `None` of fewer than two, and where nothing shows a spread.
    pub fn interval(&self) -> Option<Interval> {
        MeanFigure::from_cells(&[Cell { case: 0, values: self.values }], 0)?.interval
    }

    fn mean_without(&self, lost: PreciseSum) -> Option<Score> {
        let mut sum = self.sum;
        sum.add_all(lost.negated());
        (self.scored > 0).then(|| Score::clamped(sum.value() / self.scored as f64))
    }

    /// The component of all together: a single one is itself; `None` where there is none.
    pub fn component(&self) -> Option<Component> {
        let first = self.first.as_deref()?;
        Some(match self.mean() {
            _ if self.count() == 1 => first.clone(),
            Some(mean) => {
                let missing = self.missing;
                let without = if missing == 0 { String::new() } else { format!(", {missing} more have no figure") };
                Component::scored(mean, format!("mean of {} trials{without}", self.scored))
            }
            None => self.missing_one.as_deref().unwrap_or(first).clone(),
        })
    }
}

/// Keeps the first by its reason: in whichever order trials end, it is the same.
fn keep_first(known: &mut Option<Box<Component>>, component: &Component) {
    if known.as_ref().is_none_or(|known| component.why() < known.why()) {
        *known = Some(Box::new(component.clone()));
    }
}

impl TrialGroup {
    /// The groups of these trials, in the order in which they come.
    pub(super) fn planned(trials: &PlannedTrials) -> Vec<TrialGroup> {
        let empty = |(PlannedGroupName { case, model, condition }, planned): (PlannedGroupName<'_>, usize)| {
            TrialGroup::empty(case.to_owned(), model.to_owned(), condition, planned)
        };
        trials.groups().map(empty).collect()
    }

    /// The group as if none of its trials had been taken in yet.
    pub(super) fn without_trials(&self) -> TrialGroup {
        TrialGroup::empty(self.case.clone(), self.model.clone(), self.condition, self.planned)
    }

    pub(super) fn empty(case: String, model: String, condition: Condition, planned: usize) -> TrialGroup {
        TrialGroup {
            case,
            model,
            condition,
            planned,
            ended: 0,
            held_before: 0,
            persona_invalid: 0,
            graded: 0,
            composite: Tally::default(),
            dimensions: Vec::new(),
            tasks: Vec::new(),
            parts: Vec::new(),
            failure_count: 0,
            penalties: PreciseSum::default(),
            failed_ms: PreciseSum::default(),
            waited_ms: PreciseSum::default(),
            decided: 0,
            passed: 0,
            failed_assertions: 0,
            latencies: ReplyTimes::default(),
        }
    }

    /// Whether this is one of its trials.
    pub(super) fn has(&self, trial: &TrialId) -> bool {
        (self.condition, &self.model, &self.case) == (trial.condition, &trial.model, &trial.case)
    }

    /// Takes in one of its trials, which passes at this score.
    pub(super) fn add(&mut self, trial: &TrialRecord, bar: Option<Score>) {
        self.ended += usize::from(trial.outcome.is_some());
        if let Some(has_passed) = trial.has_passed(bar) {
            self.decided += 1;
            self.passed += u32::from(has_passed);
        }
        self.composite.add(&match (trial.why_no_score(), &trial.scorecard) {
            (None, Some(scorecard)) => scorecard.composite.clone(),
            (why, _) => Component::missing(why.unwrap_or_default()),
        });
        self.persona_invalid += usize::from(trial.is_persona_invalid());
        self.held_before += usize::from(trial.is_unscored_for_what_held_before());
        let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
        turns.clone().filter_map(|turn| turn.latency_ms).for_each(|ms| self.latencies.add(ms as f32));
        for failure in turns.flat_map(|turn| &turn.failures) {
            self.failed_ms.add(failure.took_ms.unwrap_or_default());
            self.waited_ms.add(failure.waited_ms.unwrap_or_default());
        }
        let Some(card) = &trial.scorecard else { return };
        self.graded += 1;
        self.failure_count += card.failure_count;
        self.penalties.add(card.penalty);
        self.dimensions.reserve_exact(card.dimensions.len().saturating_sub(self.dimensions.len()));
        for dimension in &card.dimensions {
            if dimension.metric() == "assertions" {
                let failed = |item: &&Item| item.component.score().is_some_and(|score| score < Score::ONE);
                self.failed_assertions += dimension.items.iter().filter(failed).count() as u32;
            }
            let place = self.dimensions.iter().position(|known| known.name == dimension.name).unwrap_or_else(|| {
                self.dimensions.push(DimensionTally {
                    name: dimension.name.clone(),
                    renamed: dimension.metric.as_deref().map(Box::from),
                    weight: dimension.weight,
                    threshold: dimension.threshold,
                    has_items: false,
                    tally: Tally::default(),
                    failed: PreciseSum::default(),
                    alternative: None,
                    there: None,
                });
                self.dimensions.len() - 1
            });
            if dimension.metric() == "tasks" && trial.evidence.as_ref().is_none_or(|it| it.transcript.has_reply()) {
                judge_check::add(&mut self.tasks, dimension);
            }
            if self.planned > 1 {
                repeated::add(&mut self.parts, dimension);
            }
            self.dimensions[place].has_items |= !dimension.items.is_empty();
            let known = &mut self.dimensions[place];
            if let Some(beside) = &dimension.beside {
                known.there.get_or_insert_with(|| Box::new(known.tally.clone()));
                known.alternative.get_or_insert_with(|| beside.name.clone());
            }
            known.tally.add(&dimension.component);
            if matches!(trial.outcome, Some(Outcome::AgentFailed { .. })) {
                known.failed.add(dimension.component.score().map_or(0.0, Score::get));
            }
            if let Some(there) = &mut known.there {
                there.add(dimension.beside.as_ref().map_or(&dimension.component, |beside| &beside.component));
            }
        }
    }

    /// One of its dimensions.
    pub fn dimension(&self, name: &str) -> Option<&DimensionTally> {
        self.dimensions.iter().find(|dimension| dimension.name == name)
    }
}
