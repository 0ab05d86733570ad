//! In how many conversations the persona played its part.

use std::collections::BTreeMap;

use super::TrialRecord;
use crate::evidence::{Guard, PersonaFault};
use crate::score::{Outcome, Score};

/// In how many conversations the persona played its part, those included that were run again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validity {
    /// How many conversations were run with a persona and came to an end.
    pub held: usize,
    /// In how many of them the persona did not play its part.
    pub invalid: usize,
    /// How many of those were the last of their trial, which has no score.
    pub unscored: usize,
    /// How many of those were not held again because the persona failed in the same place each time.
    pub stuck: usize,
    /// Both for each of the agent's models, in the order in which they came.
    pub of_models: Vec<ModelValidity>,
    /// How many messages of the persona were faulty and not sent, by what was wrong with them.
    pub faults: BTreeMap<Guard, usize>,
}

/// The validity of the conversations with one of the agent's models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelValidity {
    /// The agent's model.
    pub model: String,
    /// How many conversations were run with a persona and came to an end.
    pub held: usize,
    /// In how many of them the persona did not play its part.
    pub invalid: usize,
}

impl ModelValidity {
    /// From this share of the conversations on those that were discarded may have decided the score.
    const MANY: f64 = 0.1;

    /// The score that the model would have, had the agent lost every conversation in which the persona did not play its part; `None`
    /// where those are few. An agent may make the persona err: what is run again then is not drawn by chance.
    pub fn worst(&self, score: Score) -> Option<Score> {
        let share = self.invalid as f64 / self.held.max(1) as f64;
        (share > ModelValidity::MANY).then(|| Score::clamped(score.get() * (1.0 - share)))
    }
}

impl Validity {
    /// Takes in a trial, with the conversations before it that did not count.
    pub(super) fn add(&mut self, trial: &TrialRecord) {
        let is_invalid = matches!(trial.outcome, Some(Outcome::PersonaInvalid { .. }));
        // One that was broken says nothing of the persona.
        let is_held = !matches!(trial.outcome, None | Some(Outcome::Broken { .. }));
        let held = trial.discarded.len() + usize::from(is_held);
        let invalid = trial.discarded.len() + usize::from(is_invalid);
        self.held += held;
        self.invalid += invalid;
        self.unscored += usize::from(is_invalid);
        self.stuck += usize::from(trial.outcome.as_ref().is_some_and(Outcome::is_of_stuck_persona));
        let model = &trial.trial.model;
        match self.of_models.iter_mut().find(|known| known.model == *model) {
            Some(known) => (known.held, known.invalid) = (known.held + held, known.invalid + invalid),
            None => self.of_models.push(ModelValidity { model: model.clone(), held, invalid }),
        }
        let evidence = trial.discarded.iter().filter_map(|it| it.evidence.as_ref()).chain(&trial.evidence);
        for fault in evidence.flat_map(|evidence| &evidence.persona_faults) {
            self.add_fault(fault);
        }
    }

    fn add_fault(&mut self, fault: &PersonaFault) {
        for finding in &fault.findings {
            *self.faults.entry(finding.guard).or_default() += 1;
        }
    }

    /// The share of the conversations in which the persona played its part; `None` where none was run.
    pub fn rate(&self) -> Option<Score> {
        (self.held > 0).then(|| Score::clamped((self.held - self.invalid) as f64 / self.held as f64))
    }

    /// Whether the share is below what is asked for; not where no conversation was run.
    pub fn is_below(&self, least: Score) -> bool {
        self.rate().is_some_and(|rate| rate.is_below(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_discarded_bounds_the_score_where_it_is_much() {
        let of = |held, invalid| ModelValidity { model: "m".to_owned(), held, invalid };
        let worst = |validity: ModelValidity| validity.worst(Score::clamped(0.8)).map(Score::get);
        assert_eq!(worst(of(20, 2)), None, "one of ten is few");
        assert_eq!(worst(of(20, 10)), Some(0.4));
        assert_eq!(worst(of(4, 4)), Some(0.0));
        assert_eq!(worst(of(0, 0)), None);
    }
}
