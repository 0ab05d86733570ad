//! How much more would decide a comparison.

use serde::Serialize;

use super::Rules;
use crate::statistics::{Cell, Sums, figure, t_half_width};

/// Nobody holds more cases than this.
const MOST: u32 = 100_000;

/// What would decide a comparison in four of five times, were the true difference the one that is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Needed {
    /// So many cases in all, each repeated as often as now; `None` where no number would do, or nothing is known of the spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<u32>,
    /// So many repetitions of the cases that there are; `None` where the cases differ too much from each other, and where
    /// nothing was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

impl Needed {
    /// Where no number is known that would do.
    pub(super) const NOTHING: Needed = Needed { cases: None, repeats: None };
}

/// What the variance of the mean over cases is made of.
struct Spread {
    /// The variance between the cases' true differences.
    between: f64,
    /// The variance of one case's difference that comes from its repetitions, where there are such.
    within: Option<f64>,
    cases: u32,
    /// How often a case was held in each condition, on average.
    repeats: f64,
}

/// What would decide a difference of these pairs.
///
/// Source: the sample size for Student's t with 80 % power, Cohen 1988; the share of repetitions by analysis of variance.
pub(super) fn needed(cells: &[Cell], mean: f64, Rules { min_effect, alpha, .. }: Rules) -> Needed {
    let Some(spread) = spread(cells) else {
        // No case differs: with so many more of the same kind, sides that differ by the least effect would have shown it.
        let is_none = figure(cells, 0).is_some_and(|figure| figure.error.is_none()) && mean.abs() < 1e-12;
        let cases = (alpha.ln() / (1.0 - min_effect).ln()).ceil() as u32;
        return Needed { cases: is_none.then_some(cases), ..Needed::NOTHING };
    };
    let is_effect = mean.abs() >= min_effect;
    let decides = |error: f64, cases: u32| {
        let degrees = f64::from(cases.max(2) - 1);
        let (level, room) =
            if is_effect { (1.0 - alpha, mean.abs()) } else { (1.0 - 2.0 * alpha, min_effect - mean.abs()) };
        // Four of five: 80 % of the estimates are on the near side; within a margin they may leave at either.
        let power = if is_effect { 0.6 } else { 0.8 };
        (t_half_width(degrees, level) + t_half_width(degrees, power)) * error <= room
    };
    let now = spread.between + spread.within.unwrap_or(0.0);
    let by_cases = |cases: u32| decides((now / f64::from(cases)).sqrt(), cases);
    let by_repeats = |times: u32| {
        let within = spread.within.unwrap_or(0.0) / f64::from(times) * spread.repeats;
        decides(((spread.between + within) / f64::from(spread.cases)).sqrt(), spread.cases)
    };
    Needed {
        cases: (spread.cases > 1).then(|| least(spread.cases, by_cases)).flatten(),
        repeats: spread.within.and_then(|_| least(spread.repeats.ceil() as u32, by_repeats)),
    }
}

/// The least number from this one on for which it holds.
fn least(from: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (from.max(1), MOST);
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
    // What the repetitions add to the variance of one case's mean; nothing is known of a case that was held once.
    let within = |conditions: &Vec<&Sums>| {
        let count = conditions.len() as f64;
        let own = |values: &&Sums| values.variance().map(|variance| variance / f64::from(values.count));
        conditions.iter().map(own).sum::<Option<f64>>().map(|sum| sum / (count * count))
    };
    let within: Sums = of_cases.values().filter_map(within).collect();
    let cases = figure.cases;
    let repeats = f64::from(figure.count) / cells.len() as f64;
    let within = within.mean();
    let between = match cases {
        1 => 0.0,
        _ => (error.value * error.value * f64::from(cases) - within.unwrap_or(0.0)).max(0.0),
    };
    Some(Spread { between, within, cases, repeats })
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
        let found = needed(&cells(&singles), 0.05, Rules::default());
        assert!(matches!(found, Needed { cases: Some(33..=35), repeats: None }), "{found:?}");
    }

    #[test]
    fn repetitions_help_only_against_what_they_vary() {
        // Each case differs by itself: no repetition takes that away.
        let apart = cells(&[&[0.3, 0.3], &[-0.2, -0.2], &[0.1, 0.1], &[-0.1, -0.1]]);
        assert_eq!(needed(&apart, 0.025, Rules::default()).repeats, None);
        // Repetitions vary, the cases do not.
        let noisy = cells(&[&[0.3, -0.2], &[-0.2, 0.31], &[0.3, -0.19], &[-0.2, 0.3]]);
        let found = needed(&noisy, 0.0525, Rules::default());
        assert!(found.repeats.is_some_and(|repeats| repeats > 4), "{found:?}");
    }

    #[test]
    fn where_nothing_differs_so_many_cases_show_it() {
        let alike = cells(&[&[0.0], &[0.0], &[0.0]]);
        assert_eq!(needed(&alike, 0.0, Rules::default()), Needed { cases: Some(149), repeats: None });
        let shifted = cells(&[&[0.5], &[0.5]]);
        assert_eq!(needed(&shifted, 0.5, Rules::default()), Needed { cases: None, repeats: None });
    }
}
