//! Two sides that were held under the same conditions: their difference, pair by pair.

use std::collections::BTreeMap;

use super::figure::{Figure, case_means, figure};
use super::interval::{Interval, LEVEL};
use super::sums::{Cell, Sums};

/// Up to so many units every flip of signs is tried; beyond, as many as these have are drawn.
const ENUMERATED: usize = 13;

/// The spread of two cases is a single distance: scores of few values come as near to each other by chance, and Student's t takes it
/// for certainty. Of two cases nothing is shown that the flip of signs does not show.
const TWO_CASES: u32 = 2;

/// How much two statistics may differ by rounding.
const ROUNDING: f64 = 1e-12;

/// One conversation beside its counterpart on the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The case.
    pub case: usize,
    /// The condition.
    pub condition: usize,
    /// The second side's value less the first's.
    pub difference: f64,
}

/// The mean difference of pairs, with what it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean over the cases, its standard error and its interval.
    pub figure: Figure,
    /// The chance of a mean at least so far from 0 where both sides are alike: by Student's t; by the flip of signs where the
    /// pairs show no spread.
    pub p: f64,
    /// The same by the flip of signs, which needs no distribution.
    pub sign_flip_p: f64,
    /// The least that the flip of signs can come to with so many units.
    pub least_sign_flip_p: f64,
    /// How many units stand for themselves: the cases, or the pairs of a single one.
    pub units: u32,
    /// The width of the range of possible values; infinite where it is not known.
    range: f64,
}

/// The mean difference of these pairs, whose values lie within a range of this width; `None` of none. `rng_seed` draws flips and
/// bootstrap-t.
///
/// Sources: as [`figure`]'s, of the pairs' differences; the flip of signs after Fisher 1935, by cases.
pub fn difference(pairs: &[Paired], range: f64, rng_seed: u64) -> Option<Difference> {
    let figure = figure(&cells(pairs), rng_seed)?;
    let units = flippable(pairs);
    let least_sign_flip_p = 2.0_f64.powi(1 - units.len().min(1000) as i32).min(1.0);
    let sign_flip_p = sign_flip(&units, rng_seed);
    let by_t = figure.error.map(|error| 2.0 * error.below(-figure.mean.abs()));
    let p = match by_t {
        Some(p) if figure.cases == TWO_CASES => p.max(sign_flip_p),
        Some(p) => p,
        None => sign_flip_p,
    };
    Some(Difference { figure, p, sign_flip_p, least_sign_flip_p, units: units.len() as u32, range })
}

impl Difference {
    /// Of a figure alone: nothing is known of the flip of signs.
    #[cfg(test)]
    pub(super) fn of_figure(figure: Figure, units: u32) -> Difference {
        Difference { figure, p: 1.0, sign_flip_p: 1.0, least_sign_flip_p: 1.0, units, range: 1.0 }
    }

    /// Whether no pair differs.
    pub fn is_none(&self) -> bool {
        self.figure.error.is_none() && self.figure.mean.abs() <= ROUNDING
    }

    /// The 95 % interval of the difference, cut to what is possible.
    pub fn interval(&self) -> Option<Interval> {
        self.interval_at(LEVEL)
    }

    /// The interval that covers at this level, above 0 and below 1, cut to what is possible.
    pub fn interval_at(&self, level: f64) -> Option<Interval> {
        self.figure.interval_at(level, Interval { low: -self.range, high: self.range })
    }

    /// The chance of such pairs where the true difference is `bound` or less. Small: it is shown to be above.
    pub fn above_p(&self, bound: f64) -> f64 {
        self.one_sided(self.figure.mean - bound)
    }

    /// The chance of such pairs where the true difference is `bound` or more. Small: it is shown to be below.
    pub fn below_p(&self, bound: f64) -> f64 {
        self.one_sided(bound - self.figure.mean)
    }

    /// The chance of such pairs where the true difference is `margin` or more, to either side. Small: both are shown to be alike.
    ///
    /// Source: two one-sided tests, Schuirmann 1987.
    pub fn equivalence_p(&self, margin: f64) -> f64 {
        self.above_p(-margin).max(self.below_p(margin))
    }

    /// The chance of a mean that is on its side of a bound by this distance where the truth is not. Where nothing was seen of a
    /// spread, none of the cases may have shown what differs: a mean that is off by the distance needs a share of cases that
    /// are off by the whole range.
    fn one_sided(&self, distance: f64) -> f64 {
        let without_spread = || match distance <= 0.0 {
            true => 1.0,
            false => (1.0 - (distance / (self.range + self.figure.mean.abs())).min(1.0)).powi(self.units as i32),
        };
        match self.figure.error {
            Some(error) if self.figure.cases == TWO_CASES => error.below(-distance).max(without_spread()),
            Some(error) => error.below(-distance),
            None => without_spread(),
        }
    }
}

/// The pairs, added up by case and condition.
pub(super) fn cells(pairs: &[Paired]) -> Vec<Cell> {
    let mut cells: BTreeMap<(usize, usize), Sums> = BTreeMap::new();
    for pair in pairs {
        cells.entry((pair.case, pair.condition)).or_default().add(pair.difference);
    }
    cells.into_iter().map(|((case, _), values)| Cell { case, values }).collect()
}

/// The units whose signs are flipped: the cases' means; of a single case each pair, weighted as it is in the mean.
fn flippable(pairs: &[Paired]) -> Vec<f64> {
    let cells = cells(pairs);
    let means = case_means(&cells);
    if means.len() != 1 {
        return means;
    }
    let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
    pairs.iter().for_each(|pair| *counts.entry(pair.condition).or_default() += 1);
    pairs.iter().map(|pair| pair.difference / f64::from(counts[&pair.condition])).collect()
}

/// The share of flips of signs whose sum is at least as far from 0 as that of the values.
fn sign_flip(values: &[f64], rng_seed: u64) -> f64 {
    let far = values.iter().sum::<f64>().abs() * (1.0 - ROUNDING) - ROUNDING;
    if values.len() <= ENUMERATED {
        let all = 1_u32 << values.len();
        let is_far = |flips: &u32| {
            let sign = |place: usize| if flips >> place & 1 == 1 { -1.0 } else { 1.0 };
            values.iter().enumerate().map(|(place, value)| sign(place) * value).sum::<f64>().abs() >= far
        };
        return (0..all).filter(is_far).count() as f64 / f64::from(all);
    }
    let mut rng = fastrand::Rng::with_seed(rng_seed);
    let drawn = (1_u32 << ENUMERATED) - 1;
    let flipped =
        |_: &u32| values.iter().map(|value| if rng.bool() { -value } else { *value }).sum::<f64>().abs() >= far;
    // The values as they are count as one of the draws, so that the share is never 0.
    (1 + (0..drawn).filter(flipped).count()) as f64 / f64::from(drawn + 1)
}

/// Each chance as it is among all of a family, of which none may be a false alarm in more than one of twenty: 0 to 1.
///
/// Source: Holm 1979.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&one, &other| chances[one].total_cmp(&chances[other]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        least = least.max((chances.len() - rank) as f64 * chances[place]).min(1.0);
        adjusted[place] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(differences: &[f64]) -> Vec<Paired> {
        differences.iter().enumerate().map(|(case, &difference)| Paired { case, condition: 0, difference }).collect()
    }

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-6, "{one} {other}");
    }

    /// Six cases of two sides.
    const DIFFERENCES: [f64; 6] = [0.05, -0.02, 0.11, 0.07, 0.0, 0.09];

    #[test]
    fn it_is_scipys_paired_t_test_and_statsmodels_two_one_sided_tests() {
        // SciPy 1.17.1 ttest_1samp(d, 0), its confidence_interval(); permutation_test((d,), mean, permutation_type="samples",
        // n_resamples=inf) of d and 0; statsmodels 0.14 DescrStatsW(d).ttost_mean(-.02, .02), .ttest_mean(-.03, "larger").
        let difference = difference(&pairs(&DIFFERENCES), 1.0, 3).unwrap();
        near(difference.p, 0.06147453936462315);
        let Interval { low, high } = difference.interval().unwrap();
        near(low, -0.0035109280608935367);
        near(high, 0.10351092806089356);
        near(difference.sign_flip_p, 0.125);
        near(difference.least_sign_flip_p, 0.03125);
        near(difference.equivalence_p(0.02), 0.895447902279795);
        near(difference.equivalence_p(0.2), 0.0004010396730177877);
        near(difference.above_p(-0.03), 0.006042920653681369);
        near(difference.below_p(0.03), 1.0 - difference.above_p(0.03));
    }

    #[test]
    fn holms_are_statsmodels() {
        // statsmodels 0.14 multipletests(p, method="holm").
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005, 0.6]);
        for (own, theirs) in adjusted.iter().zip([0.04, 0.09, 0.09, 0.025, 0.6]) {
            near(*own, theirs);
        }
        assert_eq!(holm(&[]), [] as [f64; 0]);
    }

    #[test]
    fn more_repetitions_of_a_case_weigh_no_more() {
        let mut repeated = pairs(&DIFFERENCES);
        repeated.extend(std::iter::repeat_n(Paired { case: 0, condition: 0, difference: 0.05 }, 50));
        let (one, other) = (difference(&pairs(&DIFFERENCES), 1.0, 3).unwrap(), difference(&repeated, 1.0, 3).unwrap());
        near(one.p, other.p);
        near(one.figure.mean, other.figure.mean);
    }

    #[test]
    fn five_cases_can_never_be_told_apart_by_signs_alone() {
        let difference = difference(&pairs(&[0.9, 0.8, 0.85, 0.95, 0.7]), 1.0, 3).unwrap();
        near(difference.sign_flip_p, 0.0625);
        near(difference.least_sign_flip_p, 0.0625);
        assert!(difference.p < 0.001);
    }

    #[test]
    fn pairs_without_spread_carry_little() {
        let alike = difference(&pairs(&[0.0; 10]), 1.0, 3).unwrap();
        assert!(alike.is_none());
        assert_eq!((alike.p, alike.interval()), (1.0, None));
        // An agent that fails in 2 of 100 conversations more would not have been seen to in ten of 0.98^10 = 82 %.
        near(alike.equivalence_p(0.02), 0.98_f64.powi(10));
        assert!(difference(&pairs(&[0.0; 150]), 1.0, 3).unwrap().equivalence_p(0.02) < 0.05);
        let shifted = difference(&pairs(&[0.2; 4]), 1.0, 3).unwrap();
        near(shifted.p, 0.125);
        near(shifted.above_p(0.3), 1.0);
        assert_eq!(difference(&[], 1.0, 3), None);
    }

    #[test]
    fn the_pairs_of_one_case_are_flipped_one_by_one() {
        let pair = |condition, difference| Paired { case: 0, condition, difference };
        let one = difference(&[pair(0, 0.1), pair(0, 0.2), pair(1, 0.3), pair(1, 0.1)], 1.0, 3).unwrap();
        assert_eq!((one.units, one.figure.cases, one.figure.count), (4, 1, 4));
        near(one.sign_flip_p, 0.125);
    }

    #[test]
    fn drawn_flips_are_near_all_flips() {
        let many: Vec<f64> = (0..40).map(|case| f64::from(case % 7) / 10.0 - 0.22).collect();
        let one = difference(&pairs(&many), 1.0, 3).unwrap();
        assert!((one.sign_flip_p - one.p).abs() < 0.02, "{} {}", one.sign_flip_p, one.p);
        assert_eq!(difference(&pairs(&many), 1.0, 3), difference(&pairs(&many), 1.0, 3));
    }
}
