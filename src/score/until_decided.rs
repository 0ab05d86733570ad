//! Repetitions that are added until the models of a run differ significantly.

use serde::{Deserialize, Serialize};

/// How often something is claimed at most that is not there: in one of twenty runs.
const ALPHA: f64 = 0.05;

/// Each look comes after about so many times the repetitions of the one before.
const GROWTH: f64 = 1.4;

/// How a run of several models adds repetitions until each differs from the first one, or all are run.
///
/// It is looked at the scores after fixed numbers of repetitions. The chance of a false claim is divided among the looks
/// (Bonferroni), so that it holds for all of them together, whenever the run ends: an interval of a look covers at 1 less
/// [`UntilDecided::alpha`], and all of them together at 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UntilDecided {
    /// After how many repetitions it is looked, in order; never empty. The last is the most that are run.
    pub looks: Vec<u32>,
    /// The least difference that matters, above 0 and up to 1.
    pub min_effect: f64,
}

impl UntilDecided {
    /// Looks from the first one on that can show something: the first repetition where there are several cases, else the second.
    pub fn new(most: u32, min_effect: f64, cases: usize) -> UntilDecided {
        let mut looks = Vec::new();
        let mut look = if cases > 1 { 1 } else { 2 };
        while look < most {
            looks.push(look);
            look = (look + 1).max((f64::from(look) * GROWTH).ceil() as u32);
        }
        looks.push(most);
        UntilDecided { looks, min_effect }
    }

    /// How often a look claims at most what is not there, 0 to 0.05.
    pub fn alpha(&self) -> f64 {
        ALPHA / self.looks.len().max(1) as f64
    }
}

/// No more repetitions are run: what decided that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// Each model is shown to differ from the first one, or to be the same.
    Decided,
    /// All that may be run are run, and it is open.
    MostHeld,
    /// Repetitions would not decide it, because the cases surely differ too much from each other, or nothing varies at all: more
    /// cases would.
    MoreCasesNeeded,
}

/// How the adding of repetitions to a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepeatsEnded {
    /// How many repetitions were run.
    pub repeats: u32,
    /// Why there are no more.
    pub decision: Decision,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_rarer_the_longer_it_takes_and_share_the_chance_of_error() {
        let looks = |most, cases| UntilDecided::new(most, 0.02, cases).looks;
        assert_eq!(looks(20, 6), [1, 2, 3, 5, 7, 10, 14, 20]);
        assert_eq!(looks(20, 1), [2, 3, 5, 7, 10, 14, 20]);
        assert_eq!((looks(1, 3), looks(2, 3), looks(2, 1)), (vec![1], vec![1, 2], vec![2]));
        assert!((UntilDecided::new(20, 0.02, 6).alpha() - 0.00625).abs() < 1e-12);
    }
}
