//! A quantile of values that come in cases.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::interval::{Estimate, Interval, LEVEL, standard_error, t_quantile};

/// How much a number of values may be off by rounding.
const ROUNDING: f64 = 1e-9;

/// The two-sided 95 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;

/// The value below which this share of values lies, 0 to 1, each with its case; `None` of no values. The interval is that of the
/// share, turned into values; none of one case, and none where it reaches beyond the largest or smallest value.
///
/// Source: Woodruff 1952, with Student's t over the cases. The quantile is the inverse of the share of values at or below.
pub fn quantile(values: &[(usize, f64)], share: f64) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let at = |share: f64| sorted[((share * count as f64).ceil() as usize).clamp(1, count) - 1];
    if count == 0 {
        return None;
    }
    let value = at(share);
    let below = values.iter().map(|&(case, own)| (case, (f64::from(u8::from(own <= value)) - share) / count as f64));
    // Cases are alike or not, never more different than single values would be.
    let error = standard_error(below).max((share * (1.0 - share) / count as f64).sqrt());
    let cases: std::collections::BTreeSet<usize> = values.iter().map(|(case, _)| *case).collect();
    let half = if cases.len() > 1 { t_quantile(cases.len() - 1) * error } else { f64::INFINITY };
    let (low, high) = (share - half, share + half);
    let is_within = low > 0.0 && high < 1.0;
    Some(Estimate { value, interval: is_within.then(|| Interval { low: at(low), high: at(high) }) })
}

/// A lower bound of the quantile at this share, with 95 % confidence, of values that each have their case; `None` where they are too few
/// to show anything. Values of one case are alike: they count as so many single ones as the spread between the cases says that they are
/// worth. Those of a lone case count as drawn one by one.
///
/// Sources: the one-sided interval of a quantile by order statistics, David and Nagaraja 2003, section 7.1; effective sample size after
/// Korn and Graubard 1998.
pub fn quantile_at_least(values: &[(usize, f64)], share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let cases = values.iter().map(|(case, _)| *case).collect::<std::collections::BTreeSet<usize>>().len();
    // The value of this rank is above the quantile only where fewer values than its rank are below it.
    let is_shown = |rank: usize| {
        let worth = if cases > 1 { worth(values, sorted[rank - 1], cases) } else { sorted.len() as f64 };
        let below = (rank - 1) as f64 / sorted.len() as f64 * worth;
        let drawn = Binomial::new(share, worth.floor() as u64);
        drawn.is_ok_and(|drawn| drawn.cdf((below + ROUNDING).floor() as u64) < 1.0 - LEVEL)
    };
    let ranks: Vec<usize> = (1..=sorted.len()).collect();
    let rank = ranks.partition_point(|rank| is_shown(*rank));
    (rank > 0).then(|| sorted[rank - 1])
}

/// How many values, drawn one by one, tell as much of the share below a bound as these values of so many cases.
fn worth(values: &[(usize, f64)], bound: f64, cases: usize) -> f64 {
    let count = values.len() as f64;
    let below = values.iter().filter(|(_, value)| *value < bound).count() as f64 / count;
    let influence = |&(case, value): &(usize, f64)| (case, (f64::from(u8::from(value < bound)) - below) / count);
    let error = standard_error(values.iter().map(influence));
    if error == 0.0 {
        return cases as f64;
    }
    // Few cases tell little of the spread between them.
    let of_few = (NORMAL / t_quantile(cases - 1)).powi(2);
    (below * (1.0 - below) / (error * error) * of_few).min(count).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_a_percentile_can_be_is_below_it_in_95_of_100_samples() {
        for count in [1, 3, 12, 40, 200] {
            let mut rng = fastrand::Rng::with_seed(count);
            let draws = 4000;
            let is_above = |_: &u32| {
                let values: Vec<(usize, f64)> = (0..count).map(|_| (0, rng.f64())).collect();
                quantile_at_least(&values, 0.95).is_some_and(|least| least > 0.95)
            };
            let wrong = (0..draws).filter(is_above).count() as f64 / f64::from(draws);
            assert!(wrong <= 0.06, "{count}: {wrong}");
        }
        // R: qbinom(0.05, 20, 0.95) is 17: the 17th of 20.
        let values: Vec<(usize, f64)> = (1..=20).map(|rank| (0, f64::from(rank))).collect();
        assert_eq!(quantile_at_least(&values, 0.95), Some(17.0));
        assert_eq!((quantile_at_least(&[(0, 7.0)], 0.95), quantile_at_least(&[], 0.95)), (None, None));
    }

    /// How often 20 cases of 15 replies show that more than 5 of 100 take longer than 1 s, where this share of the cases is slow as a
    /// whole, and else this share of their replies.
    fn called_slow(of_cases: f64, of_replies: f64) -> f64 {
        let mut rng = fastrand::Rng::with_seed(5);
        let draws = 2000;
        let is_called = |_: &u32| {
            let mut values = Vec::new();
            for case in 0..20 {
                let is_slow = rng.f64() < of_cases;
                let reply = |rng: &mut fastrand::Rng| {
                    let slow = is_slow || rng.f64() < of_replies;
                    rng.f64() + if slow { 1.0 } else { 0.0 }
                };
                values.extend((0..15).map(|_| (case, reply(&mut rng))));
            }
            quantile_at_least(&values, 0.95).is_some_and(|least| least > 1.0)
        };
        (0..draws).filter(is_called).count() as f64 / f64::from(draws)
    }

    #[test]
    fn replies_of_one_case_are_alike_in_what_they_show_of_slow_ones() {
        let (slow_cases, slow_replies) = (called_slow(0.04, 0.0), called_slow(0.0, 0.04));
        assert!(slow_cases <= 0.05 && slow_replies <= 0.05, "{slow_cases} {slow_replies}");
        assert!(called_slow(0.0, 0.12) > 0.8, "{}", called_slow(0.0, 0.12));
    }

    #[test]
    fn of_single_values_it_is_near_the_exact_interval_of_order_statistics() {
        // Of 1 to 100 the median's exact 95 % interval is the 40th to the 61st (R's quantileCI).
        let values: Vec<(usize, f64)> = (0..100).map(|rank| (rank, (rank + 1) as f64)).collect();
        let Estimate { value, interval } = quantile(&values, 0.5).unwrap();
        let Interval { low, high } = interval.unwrap();
        assert_eq!(value, 50.0);
        assert!((39.0..=41.0).contains(&low) && (59.0..=61.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn few_values_have_no_interval_of_their_tail() {
        let values: Vec<(usize, f64)> = (0..20).map(|rank| (rank, (rank + 1) as f64)).collect();
        assert_eq!(quantile(&values, 0.99), Some(Estimate { value: 20.0, interval: None }));
        assert_eq!(quantile(&[], 0.5), None);
        let one_case: Vec<(usize, f64)> = (0..50).map(|rank| (3, f64::from(rank))).collect();
        assert_eq!(quantile(&one_case, 0.5), Some(Estimate { value: 24.0, interval: None }));
    }

    #[test]
    fn values_of_one_case_are_alike() {
        let cases =
            |each: usize| (0..400).map(move |at| (at / each, ((at / each * 37) % 100) as f64)).collect::<Vec<_>>();
        let width = |values: &[(usize, f64)]| quantile(values, 0.5).unwrap().interval.unwrap().half_width();
        assert!(width(&cases(20)) > 2.0 * width(&cases(1)));
    }
}
