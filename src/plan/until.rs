//! Repetitions that are added until the models differ significantly.

use std::sync::Arc;

use super::{Lane, Plan, Refusal, ResumedTrials};
use crate::score::UntilDecided;

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
            "two cases tell no models apart, however often they are held",
            "add a third case, or choose a single one",
        ),
        _ => None,
    }
}

impl Plan {
    /// The lanes of what is left of a run, in rounds that are held one after the other: up to each of the looks, or all at once
    /// where the run has none.
    pub fn rounds(
        &self,
        held: ResumedTrials,
    ) -> impl Iterator<Item = Box<dyn Iterator<Item = Lane> + Send>> + Send + use<> {
        let looks = self.until.as_ref().map_or(vec![u32::MAX], |until: &UntilDecided| until.looks.clone());
        let (held, share_state, all) = (Arc::new(held), self.share_state(), self.schedule.clone());
        let mut before = 0;
        looks.into_iter().map(move |look| {
            let (from, held) = (std::mem::replace(&mut before, look), Arc::clone(&held));
            let of_round = all.trials().filter(move |trial| trial.id.repeat > from && trial.id.repeat <= look);
            let left = of_round.filter_map(move |trial| held.left(trial));
            match share_state {
                true => Box::new(std::iter::once(Lane::new(left))) as Box<dyn Iterator<Item = Lane> + Send>,
                false => Box::new(left.map(|trial| Lane::new(std::iter::once(trial)))),
            }
        })
    }
}
