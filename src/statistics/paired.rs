//! Two sides that were run under the same conditions: their difference, pair by pair.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use super::figure::{Figure, StandardError, case_means, figure};
use super::interval::{Interval, LEVEL};
use super::sign_flip::{ROUNDING, sign_flip};
use super::sums::{Cell, Sums};
use super::unseen;

/// Below so many degrees of freedom (two cases, or two repetitions of one) the spread is a single distance: scores of few values come
/// as near to each other by chance, and Student's t takes it for certainty. Nothing is shown there that the flip of signs does not
/// show.
const LEAST_DEGREES: f64 = 2.0;

/// With fewer cases Student's t is too sure at the small chances of several looks, where scores have few values.
const LEAST_AT_A_LOOK: u32 = 6;

/// One conversation beside its counterpart on the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The case.
    pub case: usize,
    /// The kind of user and the condition: pairs of one case and one kind are repetitions.
    pub kind: usize,
    /// The second side's value less the first's.
    pub difference: f64,
}

/// The mean difference of pairs, with what it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean over the cases, its standard error and its interval.
    pub figure: Figure,
    /// The two-sided p-value of the mean difference: by Student's t; by the flip of signs where the pairs show no
    /// spread.
    pub p: f64,
    /// The p-value of the sign-flip test, which assumes no distribution.
    pub sign_flip_p: f64,
    /// The smallest p-value that the sign-flip test can have with this number of units.
    pub least_sign_flip_p: f64,
    /// How many units stand for themselves: the cases, or the pairs of a single one.
    pub units: u32,
    /// The width of the range of possible values; infinite where it is not known.
    range: f64,
}

/// The mean difference of these pairs, whose values lie within a range of this width; `None` of none. `rng_seed` draws flips and
/// bootstrap-t. The pairs are gone through several times, and not held.
///
/// Sources: as [`figure`]'s, of the pairs' differences; the flip of signs after Fisher 1935, by cases.
pub fn difference(
    pairs: impl IntoIterator<Item: Borrow<Paired>, IntoIter: Clone>,
    range: f64,
    rng_seed: u64,
) -> Option<Difference> {
    let pairs = pairs.into_iter();
    let kinds = by_kind(pairs.clone());
    let cells = of_cases(&kinds);
    let figure = figure(&cells, rng_seed)?;
    // The cases' means are what is flipped; of a single case each pair, weighted as it is in the mean.
    let (units, sign_flip_p) = match case_means(&cells) {
        means if means.len() == 1 => (figure.count, sign_flip(weighted(pairs, &kinds), rng_seed)),
        means => (figure.cases, sign_flip(means.iter().copied(), rng_seed)),
    };
    let least_sign_flip_p = 2.0_f64.powi(1 - units.min(1000) as i32).min(1.0);
    let by_t = figure.error.map(|error| 2.0 * error.below(-figure.mean.abs()));
    let p = match by_t {
        Some(p) if figure.error.is_some_and(is_of_two) => p.max(sign_flip_p),
        Some(p) => p,
        None => sign_flip_p,
    };
    Some(Difference { figure, p, sign_flip_p, least_sign_flip_p, units, range })
}

/// The same at one of several looks, whose chances of error are small: with fewer than six cases p is no smaller than by the flip of
/// signs of the single pairs.
pub fn difference_at_a_look(
    pairs: impl IntoIterator<Item: Borrow<Paired>, IntoIter: Clone>,
    range: f64,
    rng_seed: u64,
) -> Option<Difference> {
    let pairs = pairs.into_iter();
    let found = difference(pairs.clone(), range, rng_seed)?;
    if found.figure.cases >= LEAST_AT_A_LOOK {
        return Some(found);
    }
    let kinds = by_kind(pairs.clone());
    Some(Difference { p: found.p.max(sign_flip(weighted(pairs, &kinds), rng_seed)), ..found })
}

fn is_of_two(error: StandardError) -> bool {
    error.degrees < LEAST_DEGREES - ROUNDING
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

    /// The interval that covers at this level, above 0 and below 1, cut to what is possible; `None` of two cases, whose spread says
    /// nothing.
    pub fn interval_at(&self, level: f64) -> Option<Interval> {
        if self.figure.error.is_some_and(is_of_two) {
            return None;
        }
        self.figure.interval_at(level, Interval { low: -self.range, high: self.range })
    }

    /// The one-sided p-value of the null hypothesis "difference ≤ bound". Small: the difference is shown to be above.
    /// Cases that were not seen may have less by all that is possible.
    pub fn above_p(&self, bound: f64) -> f64 {
        self.one_sided(self.figure.mean - bound, self.range + self.figure.mean)
    }

    /// The one-sided p-value of the null hypothesis "difference ≥ bound". Small: the difference is shown to be below.
    /// Cases that were not seen may have more by all that is possible.
    pub fn below_p(&self, bound: f64) -> f64 {
        self.one_sided(bound - self.figure.mean, self.range - self.figure.mean)
    }

    /// The p-value of the equivalence test (TOST) with this margin. Small: both sides are shown to be alike.
    ///
    /// Source: two one-sided tests, Schuirmann 1987.
    pub fn equivalence_p(&self, margin: f64) -> f64 {
        self.above_p(-margin).max(self.below_p(margin))
    }

    /// The chance by Student's t alone, as if all cases were like those that were seen, of a mean so far on the near side of a bound.
    pub fn seen_p(&self, distance: f64) -> f64 {
        match self.figure.error {
            Some(error) if is_of_two(error) => self.sign_flip_p.max(error.below(-distance)),
            Some(error) => error.below(-distance),
            None if distance > 0.0 => 0.0,
            None => 1.0,
        }
    }

    /// The least that the true difference can be, where it is below that with at most this chance.
    pub fn least(&self, chance: f64) -> f64 {
        let (mut low, mut high) = (-self.range, self.figure.mean);
        for _ in 0..40 {
            let middle = low + (high - low) / 2.0;
            if self.above_p(middle) <= chance { low = middle } else { high = middle }
        }
        low
    }

    fn one_sided(&self, distance: f64, room: f64) -> f64 {
        let by_t = |part: f64| match self.figure.error {
            Some(error) => error.below(-part),
            None if part > 0.0 => 0.0,
            None => 0.5,
        };
        unseen::p_value(distance, room, self.units, by_t)
    }
}

/// The differences of pairs of one case and kind, added up.
struct KindSums {
    of: (usize, usize),
    values: Sums,
}

/// The differences of pairs, added up by case and kind, and sorted by those. Where pairs come kind by kind, no more than that is held.
fn by_kind(pairs: impl Iterator<Item: Borrow<Paired>>) -> Vec<KindSums> {
    let mut kinds: Vec<KindSums> = Vec::new();
    for pair in pairs {
        let Paired { case, kind, difference } = *pair.borrow();
        let of = (case, kind);
        if kinds.last().is_none_or(|last| last.of != of) {
            // Pairs in any other order would be as many.
            if kinds.len().is_power_of_two() && kinds.len() > 1 {
                merge(&mut kinds);
            }
            kinds.push(KindSums { of, values: Sums::default() });
        }
        if let Some(last) = kinds.last_mut() {
            last.values.add(difference);
        }
    }
    merge(&mut kinds);
    kinds
}

/// Sorts them, and adds up those of the same case and kind.
fn merge(kinds: &mut Vec<KindSums>) {
    if kinds.is_sorted_by(|one, other| one.of < other.of) {
        return;
    }
    kinds.sort_by_key(|kind| kind.of);
    kinds.dedup_by(|later, kept| {
        let is_same = later.of == kept.of;
        if is_same {
            kept.values.add_all(later.values);
        }
        is_same
    });
}

fn of_cases(kinds: &[KindSums]) -> Vec<Cell> {
    kinds.iter().map(|kind| Cell { case: kind.of.0, values: kind.values }).collect()
}

/// The pairs, added up by case and kind.
#[cfg(test)]
pub(super) fn cells(pairs: &[Paired]) -> Vec<Cell> {
    of_cases(&by_kind(pairs.iter()))
}

/// The difference of each pair, weighted as it is in the mean over the cases.
fn weighted<'a>(
    pairs: impl Iterator<Item: Borrow<Paired>> + Clone + 'a,
    kinds: &'a [KindSums],
) -> impl Iterator<Item = f64> + Clone + 'a {
    let mut kinds_of: BTreeMap<usize, f64> = BTreeMap::new();
    kinds.iter().for_each(|kind| *kinds_of.entry(kind.of.0).or_default() += 1.0);
    pairs.map(move |pair| {
        let Paired { case, kind, difference } = *pair.borrow();
        let of_kind = kinds.binary_search_by_key(&(case, kind), |known| known.of).map(|at| kinds[at].values.count);
        difference / (f64::from(of_kind.unwrap_or(1)) * kinds_of[&case])
    })
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
        differences.iter().enumerate().map(|(case, &difference)| Paired { case, kind: 0, difference }).collect()
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
        let difference = difference(pairs(&DIFFERENCES), 1.0, 3).unwrap();
        near(difference.p, 0.06147453936462315);
        let Interval { low, high } = difference.interval().unwrap();
        near(low, -0.0035109280608935367);
        near(high, 0.10351092806089356);
        near(difference.sign_flip_p, 0.125);
        near(difference.least_sign_flip_p, 0.03125);
        let mean = difference.figure.mean;
        near(difference.seen_p(0.02 - mean), 0.895447902279795);
        near(difference.seen_p(0.2 - mean), 0.0004010396730177877);
        near(difference.seen_p(mean + 0.03), 0.006042920653681369);
    }

    #[test]
    fn few_cases_that_are_nearly_alike_show_no_more_than_those_that_are_quite_alike() {
        let nearly: Vec<f64> = (0..10).map(|case| f64::from(case % 3) * 1e-4).collect();
        let nearly = difference(pairs(&nearly), 1.0, 3).unwrap();
        let quite = difference(pairs(&[0.0; 10]), 1.0, 3).unwrap();
        assert!(nearly.seen_p(0.02) < 1e-6 && nearly.equivalence_p(0.02) > quite.equivalence_p(0.02) - 1e-2);
        assert!((quite.least(0.05) + 0.2589).abs() < 1e-3 && nearly.least(0.05) < -0.25, "{}", nearly.least(0.05));
        let spread = difference(pairs(&DIFFERENCES), 1.0, 3).unwrap();
        assert!(spread.equivalence_p(0.2) > spread.seen_p(0.2 - spread.figure.mean));
    }

    #[test]
    fn two_repetitions_of_a_case_show_nothing_by_themselves() {
        let pair = |difference| Paired { case: 0, kind: 0, difference };
        let two = difference([pair(0.999), pair(0.998)], 1.0, 3).unwrap();
        near(two.p, 0.5);
        let cases = difference(pairs(&[0.999, 0.998]), 1.0, 3).unwrap();
        near(cases.p, 0.5);
        assert_eq!((cases.interval(), two.interval()), (None, None));
        assert!(difference([pair(0.999), pair(0.998), pair(0.9985)], 1.0, 3).unwrap().p < 0.001);
        let of_three = |repeats: usize| {
            let pairs: Vec<Paired> = (0..3 * repeats)
                .map(|at| Paired { case: at % 3, kind: 0, difference: 0.99 + 1e-4 * (at * at % 7) as f64 })
                .collect();
            difference_at_a_look(&pairs, 1.0, 3).unwrap().p
        };
        near(of_three(1), 0.25);
        near(of_three(3), 0.5_f64.powi(8));
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
        repeated.extend(std::iter::repeat_n(Paired { case: 0, kind: 0, difference: 0.05 }, 50));
        let (one, other) = (difference(pairs(&DIFFERENCES), 1.0, 3).unwrap(), difference(&repeated, 1.0, 3).unwrap());
        near(one.p, other.p);
        near(one.figure.mean, other.figure.mean);
    }

    #[test]
    fn five_cases_can_never_be_told_apart_by_signs_alone() {
        let difference = difference(pairs(&[0.9, 0.8, 0.85, 0.95, 0.7]), 1.0, 3).unwrap();
        near(difference.sign_flip_p, 0.0625);
        near(difference.least_sign_flip_p, 0.0625);
        assert!(difference.p < 0.001);
    }

    #[test]
    fn pairs_without_spread_carry_little() {
        let alike = difference(pairs(&[0.0; 10]), 1.0, 3).unwrap();
        assert!(alike.is_none());
        assert_eq!((alike.p, alike.interval()), (1.0, None));
        // An agent that fails in 2 of 100 conversations more would not have been seen to in ten of 0.98^10 = 82 %.
        near(alike.equivalence_p(0.02), 0.98_f64.powi(10));
        assert!(difference(pairs(&[0.0; 150]), 1.0, 3).unwrap().equivalence_p(0.02) < 0.05);
        let shifted = difference(pairs(&[0.2; 4]), 1.0, 3).unwrap();
        near(shifted.p, 0.125);
        near(shifted.above_p(0.3), 1.0);
        assert_eq!(difference([] as [Paired; 0], 1.0, 3), None);
    }

    #[test]
    fn the_pairs_of_one_case_are_flipped_one_by_one() {
        let pair = |kind, difference| Paired { case: 0, kind, difference };
        let one = difference([pair(0, 0.1), pair(0, 0.2), pair(1, 0.3), pair(1, 0.1)], 1.0, 3).unwrap();
        assert_eq!((one.units, one.figure.cases, one.figure.count), (4, 1, 4));
        near(one.sign_flip_p, 0.125);
    }

    #[test]
    fn drawn_flips_are_near_all_flips() {
        let many: Vec<f64> = (0..40).map(|case| f64::from(case % 7) / 10.0 - 0.22).collect();
        let one = difference(pairs(&many), 1.0, 3).unwrap();
        assert!((one.sign_flip_p - one.p).abs() < 0.02, "{} {}", one.sign_flip_p, one.p);
        assert_eq!(difference(pairs(&many), 1.0, 3), difference(pairs(&many), 1.0, 3));
    }
}
