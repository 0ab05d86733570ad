//! Repetitions that are added until the models differ significantly.

use std::sync::Arc;

use super::{Lane, Plan, Refusal, ResumedTrials};

/// The options of the command line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// The most repetitions.
    pub most: u32,
    /// The least difference that matters, above 0 and up to 1.
    pub min_effect: f64,
}

/// Why that can't be.
pub(super) fn refusal(models: &[String], most: u32, cases: usize) -> Option<Refusal> {
    let refused = |what: &str, help: &str| Some(Refusal::new(what.to_owned(), help));
    if models.len() < 2 {
        return refused("--until decided compares models, and there is one", "name several: --model a,b");
    }
    match (cases, most) {
        (1, ..2) => refused("a single case that is held once tells no models apart", "--max-repeats 20"),
        (2, _) => refused(
            "two cases tell no models apart, however often they are run",
            "add a third case, or choose a single one",
        ),
        _ => None,
    }
}

impl Plan {
    /// The looks that are still to be taken of a run of which these trials are over; empty where the run has none. A look was
    /// taken where a trial of a later repetition was begun: it is not taken again, whatever is run again of what came before it.
    pub fn looks_left(&self, held: &ResumedTrials) -> Vec<u32> {
        let Some(until) = &self.until else { return Vec::new() };
        let begun = self.trials().filter(|trial| held.was_begun(trial)).map(|trial| trial.id.repeat).max();
        until.looks.iter().copied().filter(|look| begun.is_none_or(|begun| *look >= begun)).collect()
    }

    /// The lanes of what is left of a run, in rounds that are run one after the other: up to each of these looks, of which the
    /// first round has all that is left before it, or all at once where there is none.
    pub fn rounds(
        &self,
        held: ResumedTrials,
        looks: &[u32],
    ) -> impl Iterator<Item = Box<dyn Iterator<Item = Lane> + Send>> + Send + use<> {
        let looks = if looks.is_empty() { vec![u32::MAX] } else { looks.to_vec() };
        let (held, share_state, all) = (Arc::new(held), self.share_state(), self.schedule.clone());
        let mut before = 0;
        looks.into_iter().map(move |look| {
            let (from, held) = (std::mem::replace(&mut before, look), Arc::clone(&held));
            let of_round = all.trials().filter(move |trial| trial.id.repeat > from && trial.id.repeat <= look);
            let left = of_round.filter_map(move |trial| held.remaining(trial));
            match share_state {
                true => Box::new(std::iter::once(Lane::new(left))) as Box<dyn Iterator<Item = Lane> + Send>,
                false => Box::new(left.map(|trial| Lane::new(std::iter::once(trial)))),
            }
        })
    }
}
