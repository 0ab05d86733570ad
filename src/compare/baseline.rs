//! Whether a score has dropped from a baseline's.

use super::judged::differences;
use super::{ALPHA, Scores, Subject};
use crate::record::BaselineFigure;
use crate::score::Score;
use crate::statistics::{Difference, difference, holm};

/// A model with its scores and those of its baseline.
#[derive(Debug, Clone, Copy)]
pub struct BesideBaseline<'a> {
    /// The model.
    pub model: &'a str,
    /// Its scores in the baseline.
    pub baseline: &'a Scores,
    /// Its scores now.
    pub scores: &'a Scores,
}

/// The scores of models beside those of their baseline, from which each may drop by so much; none of models of which no pair has a score.
///
/// A score has dropped where the chance of such a difference is at most 5 % if there were none, among all models (Holm), and it is larger
/// than allowed. It is kept where Student's t shows, of cases like those that were seen, that the drop is no larger than allowed, or where
/// no pair differs; that is shown of all cases where it also holds with cases that were not seen (a test of non-inferiority).
pub fn beside_baseline(models: &[BesideBaseline<'_>], allowed_drop: f64, rng_seed: u64) -> Vec<BaselineFigure> {
    let mut found: Vec<(&str, Difference)> = Vec::new();
    for BesideBaseline { model, baseline, scores } in models {
        let pairs = differences(&Subject::Score, baseline, scores, &baseline.pairs(scores));
        found.extend(difference(&pairs, 1.0, rng_seed).map(|found| (*model, found)));
    }
    let chances = holm(&found.iter().map(|(_, found)| found.p).collect::<Vec<_>>());
    found.iter().zip(chances).map(|((model, found), p)| figure(model, found, (p, allowed_drop))).collect()
}

fn figure(model: &str, found: &Difference, (p, allowed_drop): (f64, f64)) -> BaselineFigure {
    BaselineFigure {
        model: model.to_owned(),
        pairs: found.figure.count,
        cases: found.figure.cases,
        difference: found.figure.mean,
        interval: found.interval(),
        is_kept: found.is_none() || found.seen_p(found.figure.mean + allowed_drop) <= ALPHA,
        is_shown: found.above_p(-allowed_drop) <= ALPHA,
        // A drop of exactly what is allowed is none that is larger, however its last digit is rounded.
        has_dropped: p <= ALPHA && found.figure.mean < -allowed_drop - Score::HAIR,
        possible_drop: Some(-found.least(ALPHA)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::record::TrialRecord;
    use crate::score::{Component, Outcome, Scorecard};

    fn scores(values: &[f64]) -> Scores {
        let mut scores = Scores::default();
        for (case, value) in values.iter().enumerate() {
            let (case, model) = (format!("c{case}"), "m".to_owned());
            let id = TrialId { number: 0, case, model, condition: Condition::WithoutFacts, repeat: 1 };
            let composite = Component::scored(Score::new(*value).unwrap(), "");
            scores.add(&TrialRecord {
                outcome: Some(Outcome::Graded),
                scorecard: Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite }),
                ..TrialRecord::planned(id)
            });
        }
        scores
    }

    fn one(baseline: &[f64], now: &[f64]) -> BaselineFigure {
        let (baseline, scores) = (scores(baseline), scores(now));
        beside_baseline(&[BesideBaseline { model: "m", baseline: &baseline, scores: &scores }], 0.03, 1).remove(0)
    }

    #[test]
    fn few_cases_without_a_drop_show_nothing_of_those_that_were_not_seen() {
        let jitter = |from: usize, cases: usize| -> Vec<f64> {
            (from..from + cases).map(|case| 1.0 - 0.02 * (case * 37 % 10) as f64 / 10.0).collect()
        };
        let few = one(&jitter(0, 10), &jitter(3, 10));
        assert!(few.is_kept && !few.is_shown && !few.has_dropped, "{few:?}");
        assert!((0.2..0.3).contains(&few.possible_drop.unwrap()), "{few:?}");
        let many = one(&jitter(0, 300), &jitter(3, 300));
        assert!(many.is_kept && many.is_shown && many.possible_drop.unwrap() < 0.03, "{many:?}");
        let same = one(&[0.9; 5], &[0.9; 5]);
        assert!(same.is_kept && !same.is_shown, "{same:?}");
        let dropped = one(&jitter(0, 10), &[0.5; 10]);
        assert!(!dropped.is_kept && dropped.has_dropped, "{dropped:?}");
        let noisy = one(&[0.1, 0.9, 0.2, 0.8, 0.5, 0.6], &[0.8, 0.2, 0.3, 0.6, 0.4, 0.7]);
        assert!(!noisy.is_kept && !noisy.has_dropped, "{noisy:?}");
    }

    #[test]
    fn a_drop_is_claimed_as_rarely_of_six_models_as_of_one() {
        let mut rng = fastrand::Rng::with_seed(10);
        let mut nights = [0, 0];
        for _ in 0..400 {
            let mut night = || scores(&(0..12).map(|_| f64::from(u8::from(rng.bool()))).collect::<Vec<_>>());
            let all: Vec<[Scores; 2]> = (0..6).map(|_| [night(), night()]).collect();
            let beside = |[baseline, scores]: &'_ [Scores; 2]| -> BaselineFigure {
                beside_baseline(&[BesideBaseline { model: "m", baseline, scores }], 0.03, 1).remove(0)
            };
            nights[0] += usize::from(all.iter().any(|both| beside(both).has_dropped));
            let models: Vec<BesideBaseline<'_>> =
                all.iter().map(|[baseline, scores]| BesideBaseline { model: "m", baseline, scores }).collect();
            nights[1] += usize::from(beside_baseline(&models, 0.03, 1).iter().any(|it| it.has_dropped));
        }
        assert!(nights[0] > 400 / 15 && nights[1] <= 400 / 20, "{nights:?}");
    }
}
