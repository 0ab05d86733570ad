//! Puts a journal's entries together, trial by trial.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::outline::RunOutline;
use super::{Entry, LaterEntries, Overview, PlannedTrials, RunEnd, TrialRecord};

/// Puts a journal's entries together: a trial is held from its first entry to its last, and nothing of it after that.
#[derive(Debug)]
pub struct Fold {
    overview: Overview,
    /// The trials by their numbers.
    plan: Arc<PlannedTrials>,
    /// How far each of them is.
    states: Vec<TrialState>,
    open: BTreeMap<u32, TrialRecord>,
    /// How often trials are still run again, by number.
    restarts: BTreeMap<u32, u32>,
    /// In the place of the overview's groups, where only the trials are wanted.
    outline: Option<RunOutline>,
}

/// How far a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrialState {
    /// It has no entry yet.
    ToCome,
    /// It has entries.
    Begun,
    /// It is one of the repetitions that were planned and are none of the run, as long as it does not go on.
    Beyond,
}

impl Fold {
    /// The fold of a journal that begins with this entry; `None` if it is not a beginning.
    pub fn begin(entry: Entry) -> Option<Fold> {
        let (overview, plan) = Overview::begin(entry)?;
        Some(Fold::new(overview, plan))
    }

    /// The same for whoever takes the trials and no figures: nothing is held of groups but whether they are complete. Its overview has
    /// none, and the places of groups are those of the plan.
    pub fn outline(entry: Entry) -> Option<Fold> {
        let (overview, plan) = Overview::begin_without_groups(entry)?;
        let fold = Fold::new(overview, plan);
        Some(Fold { outline: Some(RunOutline::new(&fold.plan)), ..fold })
    }

    fn new(overview: Overview, plan: PlannedTrials) -> Fold {
        let plan = Arc::new(plan.by_number());
        let states = vec![TrialState::ToCome; plan.len()];
        Fold { overview, plan, states, open: BTreeMap::new(), restarts: BTreeMap::new(), outline: None }
    }

    /// The trials by their numbers.
    pub fn plan(&self) -> &Arc<PlannedTrials> {
        &self.plan
    }

    /// Sets what later entries of the journal say of those that come before them.
    pub fn with_later(mut self, later: LaterEntries) -> Fold {
        let LaterEntries { restarts, prices } = later;
        if let Some(prices) = prices {
            prices.replace(&mut self.overview.summary.provenance);
        }
        Fold { restarts, ..self }
    }

    /// Takes in the next entry; returns the trial that is over with it, and the place of its group. An entry of a trial
    /// that the run does not have is passed over.
    pub fn take(&mut self, entry: Entry) -> Option<(usize, TrialRecord)> {
        let Some(number) = entry.trial() else {
            match &entry {
                Entry::RepeatsEnded { ended, .. } => self.drop_beyond(ended.repeats),
                Entry::RunResumed { may_lack_turns, .. } => {
                    self.open.values_mut().for_each(|trial| trial.may_lack_turns |= *may_lack_turns);
                    self.take_back_beyond();
                }
                _ => {}
            }
            self.overview.apply(entry);
            return None;
        };
        let place = self.plan.place(number)?;
        if self.states[place] == TrialState::ToCome {
            self.states[place] = TrialState::Begun;
            self.open.insert(number, TrialRecord::planned(self.plan.at(place)));
        }
        if entry.takes_up_again().is_some()
            && let Some(left) = self.restarts.get_mut(&number)
        {
            *left = left.saturating_sub(1);
        }
        let is_held_again = self.restarts.get(&number).is_some_and(|left| *left > 0);
        let is_last = matches!(entry, Entry::TrialFinished { .. }) && !is_held_again;
        self.open.get_mut(&number)?.apply(entry);
        let mut over = if is_last { self.open.remove(&number) } else { None }?;
        over.give_up_calls();
        over.places = Vec::new();
        Some((self.add(place, &over), over))
    }

    /// The repetitions beyond these are none of the run any more; none of them has begun.
    fn drop_beyond(&mut self, repeats: u32) {
        for (place, state) in self.states.iter_mut().enumerate() {
            if *state == TrialState::ToCome && self.plan.repeat_at(place) > repeats {
                *state = TrialState::Beyond;
                match &mut self.outline {
                    Some(outline) => outline.plan(self.plan.group_at(place), false),
                    None => self.overview.drop_planned(&self.plan.at(place)),
                }
            }
        }
    }

    /// The run goes on: whether there are more repetitions is open again.
    fn take_back_beyond(&mut self) {
        for (place, state) in self.states.iter_mut().enumerate().filter(|(_, state)| **state == TrialState::Beyond) {
            *state = TrialState::ToCome;
            match &mut self.outline {
                Some(outline) => outline.plan(self.plan.group_at(place), true),
                None => self.overview.add_planned(&self.plan.at(place)),
            }
        }
    }

    /// Adds up a trial, by its place in the plan; returns the place of its group.
    fn add(&mut self, place: usize, trial: &TrialRecord) -> usize {
        let Some(outline) = &mut self.outline else { return self.overview.add(trial) };
        let group = self.plan.group_at(place);
        outline.add(group, trial);
        self.overview.add_to_outline(trial);
        group
    }

    /// All that is known of the run so far.
    pub fn overview(&self) -> &Overview {
        &self.overview
    }

    /// Lines of the journal are damaged or missing: the run can't pass any more.
    pub fn damaged(&mut self) {
        self.overview.is_damaged = true;
    }

    /// The journal has ended. The trials that are not over are handed out, in the order of the plan.
    pub fn end(mut self, each: impl FnMut(usize, TrialRecord)) -> Overview {
        self.hand_out(each);
        self.overview.conclude();
        self.overview
    }

    /// The same of a fold that is an outline.
    pub fn end_outline(mut self, each: impl FnMut(usize, TrialRecord)) -> (Overview, RunEnd) {
        self.hand_out(each);
        let end = RunEnd::new(&self.overview, &self.outline.unwrap_or_default());
        (self.overview, end)
    }

    fn hand_out(&mut self, mut each: impl FnMut(usize, TrialRecord)) {
        for (place, state) in std::mem::take(&mut self.states).into_iter().enumerate() {
            let trial = match state {
                TrialState::ToCome => Some(TrialRecord::planned(self.plan.at(place))),
                TrialState::Begun => self.open.remove(&self.plan.number_at(place)),
                TrialState::Beyond => None,
            };
            if let Some(mut trial) = trial {
                trial.give_up_calls();
                trial.places = Vec::new();
                each(self.add(place, &trial), trial);
            }
        }
    }
}

#[cfg(test)]
mod tests;
