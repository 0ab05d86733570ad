//! How much more would decide a comparison.

use std::collections::BTreeSet;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::ComparisonRules;
use crate::statistics::{Cell, LEVEL, Sums, figure, t_half_width, unseen_share};

/// With fewer repetitions nothing is known of how much they vary.
const TELLING: u32 = 3;

/// The chance that the cases differ no more than is reckoned with where repetitions are advised.
const SURE: f64 = 0.9;

/// The most cases, or repetitions, that are advised beyond those that were held: a suite of practical size has no more.
pub const MOST_MORE: u32 = 1000;

/// The sample sizes that would decide a comparison with 80 % power, were the true difference the one that is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Needed {
    /// The number of cases needed in total, at the current number of repetitions; `None` where more than [`MOST_MORE`] further ones
    /// would be, or nothing is known of the spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<u32>,
    /// The number of repetitions needed with the current cases, were these as different as the data leave possible (90 %); `None` where the cases differ too much from each other, more than
    /// [`MOST_MORE`] further ones would be needed, and where nothing was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

impl Needed {
    /// Where no number is known that would do.
    pub(super) const NOTHING: Needed = Needed { cases: None, repeats: None };
}

/// The components of the variance of the mean over cases.
struct Spread {
    /// The variance of the cases' means.
    of_means: f64,
    /// The variance between the cases' true differences.
    between: f64,
    /// The most that it may be, with a chance of nine in ten.
    most_between: f64,
    /// The variance of one case's difference that comes from its repetitions, where there are such.
    within: Option<f64>,
    cases: u32,
    /// How often a case was run in each condition, on average.
    repeats: f64,
}

/// The sample sizes that would decide a difference of these pairs, of which a difference is claimed at this level: the rules' `alpha`, or
/// less in a family.
///
/// Source: the sample size for Student's t with 80 % power, Cohen 1988; the share of repetitions by analysis of variance.
pub(super) fn needed(
    cells: &[Cell],
    mean: f64,
    ComparisonRules { min_effect, alpha, .. }: ComparisonRules,
    level: f64,
) -> Needed {
    let Some(spread) = spread(cells) else {
        // No case differs: with so many more of the same kind, sides that differ by the least effect would have shown it.
        let is_none = figure(cells, 0).is_some_and(|figure| figure.error.is_none()) && mean.abs() < 1e-12;
        let cases = (alpha.ln() / (1.0 - min_effect).ln()).ceil() as u32;
        let held = cells.iter().map(|cell| cell.case).collect::<BTreeSet<_>>().len() as u32;
        return Needed { cases: Some(cases).filter(|_| is_none && cases <= held + MOST_MORE), ..Needed::NOTHING };
    };
    let is_effect = mean.abs() >= min_effect;
    // Over the repetitions of a single case there are as many degrees of freedom as repetitions, less one in each condition.
    let over_cases = |cases: u32| f64::from(cases.max(2) - 1);
    let over_repeats = |times: u32| match spread.cases {
        1 => (f64::from(times.max(2) - 1) * cells.len() as f64).max(1.0),
        cases => over_cases(cases),
    };
    let decides = |error: f64, degrees: f64, units: u32| {
        // Four of five: 80 % of the estimates are on the near side; within a margin they may leave at either.
        let (one_side, either) = (t_half_width(degrees, 0.6) * error, t_half_width(degrees, 0.8) * error);
        if is_effect {
            let is_significant = t_half_width(degrees, 1.0 - level) * error + one_side <= mean.abs();
            return is_significant && one_side <= mean.abs() - min_effect;
        }
        let unseen = unseen_share(units, alpha) * (1.0 - mean.abs());
        t_half_width(degrees, 1.0 - 2.0 * alpha) * error + either + unseen <= min_effect - mean.abs()
    };
    let now = spread.between + spread.within.unwrap_or(0.0);
    let by_cases = |cases: u32| decides((now / f64::from(cases)).sqrt(), over_cases(cases), cases);
    let by_repeats = |times: u32| {
        let within = spread.within.unwrap_or(0.0) / f64::from(times) * spread.repeats;
        let units = if spread.cases == 1 { times * cells.len() as u32 } else { spread.cases };
        // With few repetitions the cases may look alike by chance: repetitions would seem to cure everything.
        decides(((spread.most_between + within) / f64::from(spread.cases)).sqrt(), over_repeats(times), units)
    };
    Needed {
        // Two cases never decide it: see `statistics/paired.rs`.
        cases: (spread.cases > 1).then(|| least(spread.cases.max(3), by_cases)).flatten(),
        repeats: spread
            .within
            .filter(|_| spread.cases != 2)
            .and_then(|_| least(spread.repeats.ceil() as u32, by_repeats)),
    }
}

/// Whether repetitions of these cases may still decide a difference, were the true one as it is seen: they can't where even the
/// least by which the cases themselves must differ (the lower end of a one-sided 95 % interval) leaves too wide an interval, where
/// nothing varies at all, or where only cases that were not seen could differ.
pub(super) fn repeats_may_decide(
    cells: &[Cell],
    mean: f64,
    ComparisonRules { min_effect, alpha, .. }: ComparisonRules,
) -> bool {
    let is_new = cells.iter().any(|cell| cell.values.count < TELLING);
    let Some(spread) = spread(cells) else { return is_new };
    let Some(within) = spread.within.filter(|_| spread.cases > 1 && !is_new) else { return true };
    let degrees = degrees(cells, spread.cases);
    let least = between_at(spread.of_means, within, degrees, LEVEL);
    let error = (least / f64::from(spread.cases)).sqrt();
    let is_effect = mean.abs() >= min_effect;
    let (level, room) =
        if is_effect { (1.0 - alpha, mean.abs()) } else { (1.0 - 2.0 * alpha, min_effect - mean.abs()) };
    // What only cases that were not seen leave open is open after all repetitions too.
    let is_alike_as_seen = !is_effect && {
        let error = (spread.of_means / f64::from(spread.cases)).sqrt();
        t_half_width(degrees[0], 1.0 - 2.0 * alpha) * error <= room
    };
    !is_alike_as_seen && t_half_width(degrees[0], level) * error <= room
}

/// The degrees of freedom of the variances between cases and within them.
fn degrees(cells: &[Cell], cases: u32) -> [f64; 2] {
    [f64::from(cases - 1), cells.iter().map(|cell| f64::from(cell.values.count.saturating_sub(1))).sum()]
}

/// The end of a one-sided interval of the variance between cases: the chance that it is larger is `level`, from 0 to 1.
///
/// Source: the interval of a variance component by the F distribution, Searle, Casella and McCulloch 1992, section 3.5.
fn between_at(of_means: f64, within: f64, [between, inside]: [f64; 2], level: f64) -> f64 {
    let quantile = FisherSnedecor::new(between, inside).map_or(f64::INFINITY, |it| it.inverse_cdf(level));
    (of_means / quantile - within).max(0.0)
}

/// The least number from this one on for which it holds, up to [`MOST_MORE`] more.
fn least(from: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (from.max(1), from.saturating_add(MOST_MORE));
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

fn spread(cells: &[Cell]) -> Option<Spread> {
    let figure = figure(cells, 0)?;
    let error = figure.error?;
    let mut of_cases: std::collections::BTreeMap<usize, Vec<&Sums>> = std::collections::BTreeMap::new();
    cells.iter().for_each(|cell| of_cases.entry(cell.case).or_default().push(&cell.values));
    // The variance that repetitions add to one case's mean; unknown for a case that was run once.
    let within = |conditions: &Vec<&Sums>| {
        let count = conditions.len() as f64;
        let own = |values: &&Sums| values.variance().map(|variance| variance / f64::from(values.count));
        conditions.iter().map(own).sum::<Option<f64>>().map(|sum| sum / (count * count))
    };
    let within: Sums = of_cases.values().filter_map(within).collect();
    let cases = figure.cases;
    let repeats = f64::from(figure.count) / cells.len() as f64;
    let within = within.mean();
    let of_means = error.value * error.value * f64::from(cases);
    let (between, most_between) = match within {
        _ if cases == 1 => (0.0, 0.0),
        None => (of_means, of_means),
        Some(within) => {
            let most = between_at(of_means, within, degrees(cells, cases), 1.0 - SURE);
            ((of_means - within).max(0.0), most)
        }
    };
    Some(Spread { of_means, between, most_between, within, cases, repeats })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[&[f64]]) -> Vec<Cell> {
        let cell = |(case, values): (usize, &&[f64])| Cell { case, values: values.iter().copied().collect() };
        values.iter().enumerate().map(cell).collect()
    }

    #[test]
    fn so_many_cases_as_a_power_analysis_says() {
        // statsmodels 0.14 TTestPower().solve_power(effect_size=0.5, power=.8, alpha=.05) is 33.4.
        let deviation = 0.1;
        let ten: Vec<f64> =
            [-1.0, 1.0].into_iter().cycle().take(10).map(|sign| 0.05 + sign * deviation * 0.9_f64.sqrt()).collect();
        let singles: Vec<&[f64]> = ten.iter().map(std::slice::from_ref).collect();
        let found = needed(&cells(&singles), 0.05, ComparisonRules::default(), 0.05);
        assert!(matches!(found, Needed { cases: Some(33..=35), repeats: None }), "{found:?}");
        // solve_power(effect_size=0.5, power=.8, alpha=.05 / 3) is 44.1.
        let of_three = needed(&cells(&singles), 0.05, ComparisonRules::default(), 0.05 / 3.0);
        assert!(matches!(of_three.cases, Some(44..=46)), "{of_three:?}");
        // So near to the least that matters four of five estimates must lie above it, too: (0.84 * 0.1 / 0.003)^2.
        let near = needed(&cells(&singles), 0.023, ComparisonRules::default(), 0.05);
        assert!(matches!(near.cases, Some(760..=820)), "{near:?}");
        // With 0.002 about 1,770 would be needed, with 0.0005 some 28,000: nobody has such a suite.
        for difference in [0.022, 0.0205] {
            let nearer = needed(&cells(&singles), difference, ComparisonRules::default(), 0.05);
            assert_eq!(nearer, Needed::NOTHING, "{difference}");
        }
        assert_eq!(needed(&cells(&singles), 0.02, ComparisonRules::default(), 0.05), Needed::NOTHING);
    }

    #[test]
    fn repetitions_help_only_against_what_they_vary() {
        // Each case differs by itself: no repetition takes that away.
        let apart = cells(&[&[0.3, 0.3], &[-0.2, -0.2], &[0.1, 0.1], &[-0.1, -0.1]]);
        assert_eq!(needed(&apart, 0.025, ComparisonRules::default(), 0.05).repeats, None);
        // Repetitions vary, the cases do not.
        let noisy = cells(&[&[0.3, -0.2], &[-0.2, 0.31], &[0.3, -0.19], &[-0.2, 0.3]]);
        let found = needed(&noisy, 0.0525, ComparisonRules::default(), 0.05);
        assert!(found.repeats.is_some_and(|repeats| repeats > 4), "{found:?}");
    }

    #[test]
    fn repetitions_that_are_advised_decide_in_most_cases() {
        // Cases that truly differ, by a spread of 0.08, and vary by 0.12; two repetitions.
        let (mut rng, rules) = (fastrand::Rng::with_seed(3), ComparisonRules::default());
        let normal = |rng: &mut fastrand::Rng| (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        let (mut advised, mut decided, mut tried) = (0, 0, 0);
        while tried < 600 {
            let of_cases: Vec<f64> = (0..8).map(|_| 0.08 * normal(&mut rng)).collect();
            let drawn = |times: u32, shift: f64, rng: &mut fastrand::Rng| -> Vec<Vec<f64>> {
                let one = |case: &f64, rng: &mut fastrand::Rng| {
                    (0..times).map(|_| shift + case + 0.12 * std::f64::consts::SQRT_2 * normal(rng)).collect()
                };
                of_cases.iter().map(|case| one(case, rng)).collect()
            };
            let cells_of = |values: &[Vec<f64>]| cells(&values.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let seen = drawn(2, 0.04, &mut rng);
            let mean = figure(&cells_of(&seen), 0).unwrap().mean;
            tried += 1;
            let Some(times) = needed(&cells_of(&seen), mean, rules, 0.05).repeats else { continue };
            advised += 1;
            // The true difference is the one that was seen.
            let centre = of_cases.iter().sum::<f64>() / 8.0;
            let again = figure(&cells_of(&drawn(times, mean - centre, &mut rng)), 0).unwrap();
            let error = again.error.unwrap();
            decided += u32::from((again.mean / error.value).abs() > t_half_width(7.0, 0.95));
        }
        // With the variance as it is estimated they are advised in 35 % of all comparisons, and 44 % of those decide; with its upper
        // end in 6 %, since for these cases no repetition would do.
        assert!((1..60).contains(&advised) && 10 * decided >= 4 * advised, "{decided} of {advised}");
    }

    #[test]
    fn of_a_single_case_so_many_repetitions_as_a_power_analysis_says() {
        // Six differences of mean 1/3 and standard deviation 0.516: statsmodels' TTestPower().solve_power(0.333 / 0.516) is 20.8.
        let six = cells(&[&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]]);
        let found = needed(&six, 1.0 / 3.0, ComparisonRules::default(), 0.05);
        assert!(matches!(found, Needed { cases: None, repeats: Some(19..=22) }), "{found:?}");
    }

    #[test]
    fn repetitions_are_given_up_only_where_the_cases_surely_differ_too_much() {
        let may = |values: &[&[f64]], mean| repeats_may_decide(&cells(values), mean, ComparisonRules::default());
        // Each case differs by itself, and hardly varies.
        let apart: &[&[f64]] =
            &[&[0.3, 0.31, 0.3], &[-0.2, -0.2, -0.21], &[0.1, 0.1, 0.11], &[-0.1, -0.11, -0.1], &[0.0, 0.01, 0.0]];
        assert!(!may(apart, 0.025));
        // What looks like a difference between cases is what varies within them.
        let noisy: &[&[f64]] = &[&[0.3, -0.2, 0.1], &[-0.2, 0.31, 0.0], &[0.3, -0.19, -0.1], &[-0.2, 0.3, 0.1]];
        assert!(may(noisy, 0.025) && may(noisy, 0.0));
        // Nothing varies: so it stays. One repetition tells nothing of that, and a single case has its repetitions alone.
        assert!(!may(&[&[0.0; 3], &[0.0; 3]], 0.0) && may(&[&[0.0], &[0.0]], 0.0) && may(&[&[0.1, 0.2, 0.3]], 0.2));
    }

    #[test]
    fn repetitions_that_would_do_are_rarely_given_up() {
        let (mut rng, tries) = (fastrand::Rng::with_seed(8), 400);
        let given_up = (0..tries).filter(|_| {
            let values: Vec<Vec<f64>> = (0..10).map(|_| (0..5).map(|_| rng.f64() * 0.4 - 0.2).collect()).collect();
            let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            let cells = cells(&slices);
            let mean = figure(&cells, 0).unwrap().mean;
            !repeats_may_decide(&cells, mean, ComparisonRules::default())
        });
        let rate = given_up.count() as f64 / f64::from(tries);
        assert!(rate < 0.06, "{rate}");
    }

    #[test]
    fn where_nothing_differs_so_many_cases_show_it() {
        let alike = cells(&[&[0.0], &[0.0], &[0.0]]);
        assert_eq!(needed(&alike, 0.0, ComparisonRules::default(), 0.05), Needed { cases: Some(149), repeats: None });
        let shifted = cells(&[&[0.5], &[0.5]]);
        assert_eq!(needed(&shifted, 0.5, ComparisonRules::default(), 0.05), Needed { cases: None, repeats: None });
    }
}
