//! In how many conversations the persona played its part.

use std::collections::BTreeMap;

use super::TrialRecord;
use crate::evidence::{Guard, PersonaFault};
use crate::score::{Outcome, Score};

/// In how many conversations the persona played its part, those included that were held again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validity {
    /// How many conversations were held with a persona and came to an end.
    pub held: usize,
    /// In how many of them the persona did not play its part.
    pub invalid: usize,
    /// How many messages of the persona were faulty and not sent, by what was wrong with them.
    pub faults: BTreeMap<Guard, usize>,
}

impl Validity {
    /// Takes in a trial, with the conversations before it that did not count.
    pub(super) fn add(&mut self, trial: &TrialRecord) {
        let is_invalid = matches!(trial.outcome, Some(Outcome::PersonaInvalid { .. }));
        // One that was broken says nothing of the persona.
        let is_held = !matches!(trial.outcome, None | Some(Outcome::Broken { .. }));
        self.held += trial.discarded.len() + usize::from(is_held);
        self.invalid += trial.discarded.len() + usize::from(is_invalid);
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

    /// The share of the conversations in which the persona played its part; `None` where none was held.
    pub fn rate(&self) -> Option<Score> {
        (self.held > 0).then(|| Score::clamped((self.held - self.invalid) as f64 / self.held as f64))
    }

    /// Whether the share is below what is asked for; not where no conversation was held.
    pub fn is_below(&self, least: Score) -> bool {
        self.rate().is_some_and(|rate| rate.is_below(least))
    }
}
