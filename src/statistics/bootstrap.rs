//! Bootstrap-t: the interval of a mean whose values are skewed.

use super::interval::{Interval, LEVEL};

/// How often the values are drawn anew.
const DRAWS: usize = 1999;

/// The 95 % interval of the mean of these values, by bootstrap-t; `None` of values that are all the same, and of so few that it
/// has no end.
///
/// Source: Efron and Tibshirani 1993, 12.5. Draws of one value only have no spread: their t is taken as without bound.
pub(super) fn bootstrap_t(values: &[f64], rng_seed: u64) -> Option<Interval> {
    let mut rng = fastrand::Rng::with_seed(rng_seed);
    let (mean, error) = mean_and_error(values.iter().copied())?;
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn: Vec<f64> = (0..values.len()).map(|_| values[rng.usize(..values.len())]).collect();
            match mean_and_error(drawn.iter().copied()) {
                Some((own, error)) => (own - mean) / error,
                None if drawn[0] == mean => 0.0,
                None => f64::INFINITY.copysign(drawn[0] - mean),
            }
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    let quantile = |share: f64| draws[((DRAWS as f64 + 1.0) * share) as usize - 1];
    let tail = (1.0 - LEVEL) / 2.0;
    let interval = Interval { low: mean - quantile(1.0 - tail) * error, high: mean - quantile(tail) * error };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// The mean of values and its standard error; `None` where they don't spread.
fn mean_and_error(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let sums: super::Sums = values.collect();
    let error = (sums.variance()? / f64::from(sums.count)).sqrt();
    (error > 0.0).then_some((sums.mean()?, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reaches_farther_where_the_tail_is() {
        let values: Vec<f64> = (1..=20).map(|rank| -(1.0 - f64::from(rank) / 21.0_f64).ln()).collect();
        let mean = values.iter().sum::<f64>() / 20.0;
        let Interval { low, high } = bootstrap_t(&values, 1).unwrap();
        assert!(high - mean > 1.2 * (mean - low), "{low} {mean} {high}");
        assert_eq!(bootstrap_t(&values, 1), bootstrap_t(&values, 1));
        assert_ne!(bootstrap_t(&values, 1), bootstrap_t(&values, 2));
        assert_eq!(bootstrap_t(&[0.5; 8], 1), None);
        assert_eq!(bootstrap_t(&[0.5, 0.75], 1), None);
    }
}
