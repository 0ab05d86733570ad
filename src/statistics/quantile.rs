//! A quantile of values that come in cases.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::interval::{Estimate, Interval, LEVEL, standard_error, t_quantile};

/// How much a number of values may be off by rounding.
const ROUNDING: f64 = 1e-9;

/// The two-sided 95 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;

/// Equal values of one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseValues {
    /// The case.
    pub case: usize,
    /// The value.
    pub value: f64,
    /// How many there are of it.
    pub count: u32,
}

/// Values in the order of their size.
struct SortedValues {
    /// Each value, with how many are at or below it.
    ranks: Vec<(f64, u64)>,
}

impl SortedValues {
    fn new(values: &[CaseValues]) -> SortedValues {
        let mut ranks: Vec<(f64, u64)> = values.iter().map(|it| (it.value, u64::from(it.count))).collect();
        ranks.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut sum = 0;
        for (_, rank) in &mut ranks {
            sum += *rank;
            *rank = sum;
        }
        SortedValues { ranks }
    }

    fn count(&self) -> u64 {
        self.ranks.last().map_or(0, |(_, count)| *count)
    }

    /// The value of this rank, from 1.
    fn at(&self, rank: u64) -> f64 {
        self.ranks[self.ranks.partition_point(|(_, last)| *last < rank)].0
    }
}

/// The value below which this share of values lies, 0 to 1; `None` of no values. The interval is that of the share, turned into
/// values; none of one case, and none where it reaches beyond the largest or smallest value.
///
/// Source: Woodruff 1952, with Student's t over the cases. The quantile is the inverse of the share of values at or below.
pub fn quantile(values: &[CaseValues], share: f64) -> Option<Estimate> {
    let sorted = SortedValues::new(values);
    let count = sorted.count();
    let at = |share: f64| sorted.at(((share * count as f64).ceil() as u64).clamp(1, count));
    if count == 0 {
        return None;
    }
    let value = at(share);
    let below = values
        .iter()
        .map(|own| (own.case, (f64::from(u8::from(own.value <= value)) - share) * f64::from(own.count) / count as f64));
    // Cases are alike or not, never more different than single values would be.
    let error = standard_error(below).max((share * (1.0 - share) / count as f64).sqrt());
    let cases = cases(values);
    let half = if cases > 1 { t_quantile(cases - 1) * error } else { f64::INFINITY };
    let (low, high) = (share - half, share + half);
    let is_within = low > 0.0 && high < 1.0;
    Some(Estimate { value, interval: is_within.then(|| Interval { low: at(low), high: at(high) }) })
}

fn cases(values: &[CaseValues]) -> usize {
    values.iter().map(|own| own.case).collect::<std::collections::BTreeSet<usize>>().len()
}

/// A lower bound of the quantile at this share, with 95 % confidence; `None` where the values are too few to show anything. Values
/// of one case are alike: they count as so many single ones as the spread between the cases says that they are worth. Those of a
/// lone case count as drawn one by one.
///
/// Sources: the one-sided interval of a quantile by order statistics, David and Nagaraja 2003, section 7.1; effective sample size after
/// Korn and Graubard 1998.
pub fn quantile_at_least(values: &[CaseValues], share: f64) -> Option<f64> {
    let sorted = SortedValues::new(values);
    let (count, cases) = (sorted.count(), cases(values));
    // The value of this rank is above the quantile only where fewer values than its rank are below it.
    let is_shown = |rank: u64| {
        let worth = if cases > 1 { worth(values, sorted.at(rank), cases) } else { count as f64 };
        let below = (rank - 1) as f64 / count as f64 * worth;
        let drawn = Binomial::new(share, worth.floor() as u64);
        drawn.is_ok_and(|drawn| drawn.cdf((below + ROUNDING).floor() as u64) < 1.0 - LEVEL)
    };
    let (mut shown, mut above) = (0, count + 1);
    while above - shown > 1 {
        let middle = shown + (above - shown) / 2;
        if is_shown(middle) { shown = middle } else { above = middle }
    }
    (shown > 0).then(|| sorted.at(shown))
}

/// How many values, drawn one by one, tell as much of the share below a bound as these values of so many cases.
fn worth(values: &[CaseValues], bound: f64, cases: usize) -> f64 {
    let number = |own: &CaseValues| f64::from(own.count);
    let count: f64 = values.iter().map(number).sum();
    let below = values.iter().filter(|own| own.value < bound).map(number).sum::<f64>() / count;
    let influence =
        |own: &CaseValues| (own.case, (f64::from(u8::from(own.value < bound)) - below) * number(own) / count);
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

    /// Single values, each with its case.
    fn single(values: impl IntoIterator<Item = (usize, f64)>) -> Vec<CaseValues> {
        values.into_iter().map(|(case, value)| CaseValues { case, value, count: 1 }).collect()
    }

    #[test]
    fn the_least_that_a_percentile_can_be_is_below_it_in_95_of_100_samples() {
        for count in [1, 3, 12, 40, 200] {
            let mut rng = fastrand::Rng::with_seed(count);
            let draws = 4000;
            let is_above = |_: &u32| {
                let values = single((0..count).map(|_| (0, rng.f64())));
                quantile_at_least(&values, 0.95).is_some_and(|least| least > 0.95)
            };
            let wrong = (0..draws).filter(is_above).count() as f64 / f64::from(draws);
            assert!(wrong <= 0.06, "{count}: {wrong}");
        }
        // R: qbinom(0.05, 20, 0.95) is 17: the 17th of 20.
        let values = single((1..=20).map(|rank| (0, f64::from(rank))));
        assert_eq!(quantile_at_least(&values, 0.95), Some(17.0));
        assert_eq!((quantile_at_least(&single([(0, 7.0)]), 0.95), quantile_at_least(&[], 0.95)), (None, None));
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
            quantile_at_least(&single(values), 0.95).is_some_and(|least| least > 1.0)
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
        let values = single((0..100).map(|rank| (rank, (rank + 1) as f64)));
        let Estimate { value, interval } = quantile(&values, 0.5).unwrap();
        let Interval { low, high } = interval.unwrap();
        assert_eq!(value, 50.0);
        assert!((39.0..=41.0).contains(&low) && (59.0..=61.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn few_values_have_no_interval_of_their_tail() {
        let values = single((0..20).map(|rank| (rank, (rank + 1) as f64)));
        assert_eq!(quantile(&values, 0.99), Some(Estimate { value: 20.0, interval: None }));
        assert_eq!(quantile(&[], 0.5), None);
        let one_case = single((0..50).map(|rank| (3, f64::from(rank))));
        assert_eq!(quantile(&one_case, 0.5), Some(Estimate { value: 24.0, interval: None }));
    }

    #[test]
    fn values_of_one_case_are_alike() {
        let cases = |each: usize| single((0..400).map(|at| (at / each, ((at / each * 37) % 100) as f64)));
        let width = |values: &[CaseValues]| quantile(values, 0.5).unwrap().interval.unwrap().half_width();
        assert!(width(&cases(20)) > 2.0 * width(&cases(1)));
    }

    #[test]
    fn equal_values_may_stand_together() {
        let mut rng = fastrand::Rng::with_seed(6);
        let all: Vec<(usize, f64)> = (0..600).map(|at| (at % 20, f64::from(rng.u8(0..12) + (at % 20) as u8))).collect();
        let mut counts = std::collections::BTreeMap::new();
        all.iter().for_each(|(case, value)| *counts.entry((*case, *value as u32)).or_insert(0) += 1);
        let together: Vec<CaseValues> = counts
            .into_iter()
            .map(|((case, value), count)| CaseValues { case, value: f64::from(value), count })
            .collect();
        for share in [0.5, 0.95, 0.99] {
            assert_eq!(quantile(&together, share), quantile(&single(all.clone()), share));
            assert_eq!(quantile_at_least(&together, share), quantile_at_least(&single(all.clone()), share));
        }
    }
}
