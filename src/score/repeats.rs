//! Aggregation of several results: pass@k and pass^k of runs, the majority of samples, means, the status of a case.

use super::Score;

/// The harmonic mean of precision and recall; 0 where both are.
pub fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// A share of a whole as a score: precision is that of the right ones among all given, recall that among all wanted; `None` of
/// nothing.
pub fn share(part: usize, whole: usize) -> Option<Score> {
    (whole > 0).then(|| Score::clamped(part as f64 / whole as f64))
}

/// Why there is no pass@k or pass^k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// No number of tries was asked for.
    #[error("k is 0: it must be 1 or more")]
    NoTries,
    /// More tries were asked for than there were runs.
    #[error("k is {k}, but there were only {runs} runs")]
    TooManyTries {
        /// How many tries.
        k: u64,
        /// How many runs.
        runs: u64,
    },
    /// More runs passed than there were.
    #[error("{passed} of {runs} runs can't have passed")]
    TooManyPassed {
        /// How many passed.
        passed: u64,
        /// How many runs.
        runs: u64,
    },
    /// There were no runs.
    #[error("there were no runs")]
    NoRuns,
}

/// How likely at least one of `k` tries passes, estimated without bias from how many of the runs did.
///
/// # Errors
/// The numbers are impossible.
pub fn pass_at_k(runs: u64, passed: u64, k: u64) -> Result<f64, PassError> {
    check(runs, passed, k)?;
    if k > runs {
        return Err(PassError::TooManyTries { k, runs });
    }
    let failed = runs - passed;
    if failed < k {
        return Ok(1.0);
    }
    // 1 − C(failed, k) / C(runs, k), without large numbers.
    let all_fail: f64 = (failed + 1..=runs).map(|n| 1.0 - k as f64 / n as f64).product();
    Ok(1.0 - all_fail)
}

/// How likely all of `k` tries pass, by how many of the runs did.
///
/// # Errors
/// The numbers are impossible.
pub fn pass_hat_k(runs: u64, passed: u64, k: u64) -> Result<f64, PassError> {
    if runs == 0 {
        return Err(PassError::NoRuns);
    }
    check(runs, passed, k)?;
    Ok((passed as f64 / runs as f64).powf(k as f64))
}

fn check(runs: u64, passed: u64, k: u64) -> Result<(), PassError> {
    match () {
        () if k == 0 => Err(PassError::NoTries),
        () if passed > runs => Err(PassError::TooManyPassed { passed, runs }),
        () => Ok(()),
    }
}

/// The majority of the samples of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Majority {
    /// Whether they reach the threshold; a tie does not.
    pub is_positive: bool,
    /// The first sample that says so: its score and reason stand for all.
    pub representative: usize,
}

/// The majority of samples by whether they reach a threshold; `None` of no samples.
pub fn majority(samples: &[Score], threshold: Score) -> Option<Majority> {
    let is_positive = |sample: &Score| !sample.is_below(threshold);
    let positive = samples.iter().filter(|it| is_positive(it)).count();
    let wins = positive * 2 > samples.len();
    // In a tie there is a negative one.
    let representative = samples.iter().position(|it| is_positive(it) == wins)?;
    Some(Majority { is_positive: wins, representative })
}

/// Whether the majority of samples stays what it is, however those that are missing would have decided.
pub fn is_settled(samples: &[Score], threshold: Score, missing: usize) -> bool {
    let positive = samples.iter().filter(|it| !it.is_below(threshold)).count();
    let negative = samples.len() - positive;
    positive > negative + missing || negative >= positive + missing
}

/// The mean over the turns of all runs, however many each run has; turns without a score are left out. `None` without any.
pub fn pooled_mean(runs: &[Vec<Option<Score>>]) -> Option<Score> {
    let all: Vec<f64> = runs.iter().flatten().flatten().map(|it| it.get()).collect();
    (!all.is_empty()).then(|| Score::clamped(all.iter().sum::<f64>() / all.len() as f64))
}

/// Whether something was found good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassStatus {
    /// It was.
    Passed,
    /// It was not.
    Failed,
    /// There was no score.
    NotEvaluated,
}

impl PassStatus {
    /// By a score and what it must reach.
    pub fn new(score: Option<Score>, threshold: Score) -> PassStatus {
        match score {
            None => PassStatus::NotEvaluated,
            Some(score) if score.is_below(threshold) => PassStatus::Failed,
            Some(_) => PassStatus::Passed,
        }
    }

    /// The status of several together: failed if any is, else passed if any is.
    pub fn combine(all: impl IntoIterator<Item = PassStatus>) -> PassStatus {
        all.into_iter().fold(PassStatus::NotEvaluated, |so_far, next| match (so_far, next) {
            (PassStatus::Failed, _) | (_, PassStatus::Failed) => PassStatus::Failed,
            (PassStatus::Passed, _) | (_, PassStatus::Passed) => PassStatus::Passed,
            _ => PassStatus::NotEvaluated,
        })
    }
}

/// The chance that k tries all pass, of a case with so many runs of which so many passed: the share of choices of k runs that
/// passed whole, which is right on average (that of [`pass_hat_k`] is too high).
///
/// Source: τ-bench, arXiv 2406.12045.
///
/// # Errors
/// As [`pass_at_k`].
pub fn pass_hat_k_unbiased(runs: u64, passed: u64, k: u64) -> Result<f64, PassError> {
    check(runs, passed, k)?;
    // All k pass where not one of them fails.
    pass_at_k(runs, runs - passed, k).map(|one_fails| 1.0 - one_fails)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn score(value: f64) -> Score {
        Score::clamped(value)
    }

    #[test]
    fn a_majority_is_settled_where_nobody_who_is_missing_could_turn_it() {
        let [yes, no, line] = [Score::ONE, Score::ZERO, Score::clamped(0.5)];
        for (samples, missing, settled) in [
            (vec![yes, yes], 1, true),
            (vec![yes], 1, false),
            (vec![no], 1, true),
            (vec![yes, no], 1, false),
            (vec![yes, no], 0, true),
            (vec![yes, yes, no], 1, false),
            (vec![no, no, yes], 1, true),
            (vec![], 1, false),
        ] {
            assert_eq!(is_settled(&samples, line, missing), settled, "{samples:?} and {missing}");
        }
    }

    #[test]
    fn pass_at_k_is_unbiased() {
        for (runs, passed, k, expected) in [
            (5, 1, 2, 0.4),
            (10, 3, 1, 0.3),
            (10, 3, 5, 0.9166666666666666),
            (20, 7, 3, 0.7491228070175439),
            (10, 0, 1, 0.0),
            (5, 4, 2, 1.0),
        ] {
            assert!((pass_at_k(runs, passed, k).unwrap() - expected).abs() < 1e-9, "{runs} {passed} {k}");
        }
        assert_eq!(pass_hat_k(10, 5, 2), Ok(0.25));
        assert_eq!(pass_hat_k(3, 3, 9), Ok(1.0));
        // C(7, 3) / C(20, 3).
        assert!((pass_hat_k_unbiased(20, 7, 3).unwrap() - 35.0 / 1140.0).abs() < 1e-9);
        assert_eq!(pass_hat_k_unbiased(3, 2, 3), Ok(0.0));
        assert_eq!(pass_hat_k_unbiased(3, 3, 4), Err(PassError::TooManyTries { k: 4, runs: 3 }));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        assert_eq!(pass_at_k(5, 1, 0), Err(PassError::NoTries));
        assert_eq!(pass_at_k(5, 6, 1), Err(PassError::TooManyPassed { passed: 6, runs: 5 }));
        assert_eq!(pass_at_k(5, 1, 6), Err(PassError::TooManyTries { k: 6, runs: 5 }));
        assert_eq!(pass_hat_k(0, 0, 1), Err(PassError::NoRuns));
        assert_eq!(pass_hat_k(5, 1, 0), Err(PassError::NoTries));
    }

    #[test]
    fn a_tie_of_samples_is_negative() {
        let of = |samples: &[f64]| majority(&samples.iter().copied().map(score).collect::<Vec<_>>(), score(0.5));
        assert_eq!(of(&[0.2, 0.2, 0.7]), Some(Majority { is_positive: false, representative: 0 }));
        assert_eq!(of(&[0.2, 0.5, 0.7]), Some(Majority { is_positive: true, representative: 1 }));
        assert_eq!(of(&[0.9, 0.1]), Some(Majority { is_positive: false, representative: 1 }));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn turns_of_all_runs_count_alike_and_what_is_missing_does_not() {
        let runs = [vec![Some(score(0.0))], vec![Some(score(1.0)), None, Some(score(1.0)), Some(score(1.0))]];
        assert_eq!(pooled_mean(&runs), Some(score(0.75)));
        assert_eq!(pooled_mean(&[vec![None], vec![]]), None);
    }

    #[test]
    fn one_failure_fails_a_case_and_without_a_score_it_is_not_evaluated() {
        use PassStatus::{Failed, NotEvaluated, Passed};
        assert_eq!(PassStatus::combine([]), NotEvaluated);
        assert_eq!(PassStatus::combine([NotEvaluated, Passed]), Passed);
        assert_eq!(PassStatus::combine([Passed, Failed, NotEvaluated]), Failed);
        assert_eq!(PassStatus::new(Some(score(0.5)), score(0.5)), Passed);
        assert_eq!(PassStatus::new(Some(score(0.4)), score(0.5)), Failed);
        assert_eq!(PassStatus::new(None, score(0.0)), NotEvaluated);
    }

    #[test]
    fn shares_of_nothing_are_none() {
        assert_eq!((share(2, 3), share(0, 0)), (Score::new(2.0 / 3.0), None));
        assert_eq!((f1(0.0, 0.0), f1(1.0, 0.5)), (0.0, 2.0 / 3.0));
    }

    proptest! {
        #[test]
        fn more_tries_pass_more_often_and_all_of_them_less(runs in 1_u64..60, passed in 0_u64..60, k in 1_u64..59) {
            let (passed, k) = (passed.min(runs), k.min(runs));
            let one = passed as f64 / runs as f64;
            let (at, hat) = (pass_at_k(runs, passed, k).unwrap(), pass_hat_k(runs, passed, k).unwrap());
            prop_assert!((0.0..=1.0).contains(&at) && (0.0..=1.0).contains(&hat));
            prop_assert!(at >= one - 1e-9 && hat <= one + 1e-9);
            prop_assert!((pass_at_k(runs, passed, 1).unwrap() - one).abs() < 1e-9);
        }
    }
}
