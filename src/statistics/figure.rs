//! A mean over cases and their repetitions, with what it can carry.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bootstrap::bootstrap_t;
use super::interval::{Interval, LEVEL};
use super::sums::{Cell, Sums};
use super::unseen::unseen_share;

/// Where the spread is smaller than this, beside the values, it is of how computers round.
const ROUNDING: f64 = 1e-12;

/// From this skewness of the cases' means on, bootstrap-t is shown beside Student's t.
const SKEWED: f64 = 1.0;

/// The fewest equal scores for which an interval is computed.
const MIN_EQUAL_SCORES: u32 = 3;

/// The numbers of cases for which skewness is corrected: fewer do not show it, more do not need it.
const SKEWED_CASES: std::ops::RangeInclusive<usize> = 5..=1000;

/// The unit over which a standard error is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SamplingUnit {
    /// Over the means of the cases: it holds for cases that were not drawn.
    Cases,
    /// Over the repetitions of one case: it holds for this case only.
    Repeats,
}

/// A mean, with what it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// How many values there are.
    pub count: u32,
    /// How many cases they are of.
    pub cases: u32,
    /// The mean of the cases' means; a case's is the mean of its conditions', a condition's that of its values.
    pub mean: f64,
    /// Its standard error with the degrees of freedom; `None` of one value, and where all are the same.
    pub error: Option<StandardError>,
    /// The 95 % interval by bootstrap-t, where the cases' means are skewed. It may reach beyond what is possible.
    pub skewed: Option<Interval>,
    /// Whether all cases have the same mean, or all values of a single case are the same.
    pub is_of_equals: bool,
}

/// How far a mean would be from what it estimates, were everything drawn anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    /// The standard error, above 0.
    pub value: f64,
    /// The degrees of freedom of Student's t, 1 or more: cases − 1, or Welch's over the repetitions of one case.
    pub degrees: f64,
    /// The unit over which it is computed.
    pub over: SamplingUnit,
}

impl StandardError {
    /// How often Student's t is below so many standard errors.
    pub(super) fn below(&self, distance: f64) -> f64 {
        student(self.degrees).map_or(f64::NAN, |t| t.cdf(distance / self.value))
    }

    /// Half the width of the interval that covers at this level, such as 0.95.
    pub fn half_width(&self, level: f64) -> f64 {
        t_half_width(self.degrees, level) * self.value
    }
}

/// Half the width, in standard errors, of the interval that covers at this level.
pub fn t_half_width(degrees: f64, level: f64) -> f64 {
    student(degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + level / 2.0))
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

impl Figure {
    /// How many stand for themselves: the cases, or the values of a single one.
    pub fn units(&self) -> u32 {
        if self.cases == 1 { self.count } else { self.cases }
    }

    /// The 95 % interval of a mean of scores: never narrower than a share of cases could make it that were not seen, and have the least
    /// or the most that is possible. `None` of fewer than three of the same.
    pub fn score_interval(&self, possible: Interval) -> Option<Interval> {
        let share = unseen_share(self.units(), (1.0 - LEVEL) / 2.0);
        let (low, high) =
            (self.mean - share * (self.mean - possible.low), self.mean + share * (possible.high - self.mean));
        match self.interval(possible) {
            Some(by_t) => Some(by_t.with(low).with(high)),
            None if self.is_of_equals && self.units() >= MIN_EQUAL_SCORES => Some(Interval { low, high }),
            None => None,
        }
    }

    /// The 95 % interval, cut to what is possible.
    pub fn interval(&self, possible: Interval) -> Option<Interval> {
        self.interval_at(LEVEL, possible)
    }

    /// The interval that covers at this level, above 0 and below 1, cut to what is possible.
    pub fn interval_at(&self, level: f64, possible: Interval) -> Option<Interval> {
        self.error.map(|error| Interval::around(self.mean, error.half_width(level), possible))
    }
}

/// The mean of values that are given case by case and condition by condition; `None` of none. Cases with more values weigh no
/// more than others. `rng_seed` draws for bootstrap-t.
///
/// Sources: Student's t over the means of clusters, Donner and Klar 2000 (with 5 to 10 clusters its 95 % intervals cover in 95
/// to 97 %, those of the percentile and BCa bootstraps in 82 to 90 %); for one case Welch–Satterthwaite over its conditions.
pub fn figure(cells: &[Cell], rng_seed: u64) -> Option<Figure> {
    let means = case_means(cells);
    let figure = without_bootstrap(cells, &means)?;
    let is_skewed = SKEWED_CASES.contains(&means.len()) && skewness(&means).abs() > SKEWED;
    let skewed = figure.error.filter(|_| is_skewed).and_then(|_| bootstrap_t(&means, rng_seed));
    Some(Figure { skewed, ..figure })
}

/// The same without an interval by bootstrap-t, of cases with these means.
pub(super) fn without_bootstrap(cells: &[Cell], means: &[f64]) -> Option<Figure> {
    let of_cases: Sums = means.iter().copied().collect();
    let mean = of_cases.mean()?;
    let error = match means.len() {
        1 => over_repeats(cells),
        cases => of_cases.variance().map(|variance| StandardError {
            value: (variance / cases as f64).sqrt(),
            degrees: (cases - 1) as f64,
            over: SamplingUnit::Cases,
        }),
    };
    let error = error.filter(|error| error.value > ROUNDING * mean.abs().max(1.0));
    Some(Figure {
        count: cells.iter().map(|cell| cell.values.count).sum(),
        cases: means.len() as u32,
        mean,
        error,
        skewed: None,
        is_of_equals: error.is_none() && (means.len() > 1 || are_equal(cells)),
    })
}

/// The mean of each case that has values, in the order of their numbers.
pub(super) fn case_means(cells: &[Cell]) -> Vec<f64> {
    let mut cases: std::collections::BTreeMap<usize, Sums> = std::collections::BTreeMap::new();
    for cell in cells {
        if let Some(mean) = cell.values.mean() {
            cases.entry(cell.case).or_default().add(mean);
        }
    }
    cases.values().filter_map(Sums::mean).collect()
}

/// Whether all values are the same.
fn are_equal(cells: &[Cell]) -> bool {
    let mut means = cells.iter().filter_map(|cell| cell.values.mean());
    let first = means.next().unwrap_or_default();
    let is_near = |difference: f64| difference.abs() <= ROUNDING * first.abs().max(1.0);
    let varies = |cell: &Cell| cell.values.variance().is_some_and(|variance| !is_near(variance.sqrt()));
    means.all(|mean| is_near(mean - first)) && !cells.iter().any(varies)
}

/// The standard error of one case's mean over its repetitions; `None` where a condition has a single one.
fn over_repeats(cells: &[Cell]) -> Option<StandardError> {
    let cells: Vec<&Sums> = cells.iter().map(|cell| &cell.values).filter(|values| values.count > 0).collect();
    let (mut sum, mut welch) = (0.0, 0.0);
    for values in &cells {
        let own = values.variance()? / f64::from(values.count);
        sum += own;
        welch += own * own / f64::from(values.count - 1);
    }
    let value = sum.sqrt() / cells.len() as f64;
    (welch > 0.0).then(|| StandardError { value, degrees: sum * sum / welch, over: SamplingUnit::Repeats })
}

/// The skewness of values, 0 where it can't be computed.
fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    let skewness = moment(3) / moment(2).powf(1.5);
    if skewness.is_finite() { skewness } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn cell(case: usize, values: &[f64]) -> Cell {
        Cell { case, values: values.iter().copied().collect() }
    }

    #[test]
    fn over_cases_it_is_scipys_t_interval_of_the_cases_means() {
        // SciPy 1.17.1: v = [.7, .45, .9, .2, .65, .8]; stats.t.interval(.95, 5, np.mean(v), stats.sem(v)).
        let cells = [
            cell(0, &[0.6, 0.8]),
            cell(1, &[0.45]),
            cell(2, &[0.9, 0.9, 0.9]),
            cell(3, &[0.1]),
            cell(3, &[0.3]),
            cell(4, &[0.65]),
            cell(5, &[0.8]),
        ];
        let figure = figure(&cells, 7).unwrap();
        assert_eq!((figure.count, figure.cases), (10, 6));
        let Interval { low, high } = figure.interval(ALL).unwrap();
        assert!((figure.mean - 0.616_666_666_667).abs() < 1e-9);
        assert!((figure.error.unwrap().value - 0.103_816_076_683).abs() < 1e-6, "{:?}", figure.error);
        assert!((low - 0.349_798_945_699).abs() < 1e-6 && (high - 0.883_534_387_634).abs() < 1e-6, "{low} {high}");
        assert_eq!(figure.error.unwrap().over, SamplingUnit::Cases);
    }

    #[test]
    fn one_case_has_welchs_over_its_repetitions() {
        // SciPy: stats.ttest_ind([.9, .7, .8, .95], [-.2, -.5, -.4], equal_var=False).confidence_interval(), halved.
        let cells = [cell(3, &[0.9, 0.7, 0.8, 0.95]), cell(3, &[0.2, 0.5, 0.4])];
        let figure = figure(&cells, 7).unwrap();
        let error = figure.error.unwrap();
        let Interval { low, high } = figure.interval(ALL).unwrap();
        assert!((error.degrees - 3.525_655_489_869).abs() < 1e-6, "{}", error.degrees);
        assert!((low - 0.449_471_109_366).abs() < 1e-6 && (high - 0.754_695_557_301).abs() < 1e-6, "{low} {high}");
        assert_eq!(error.over, SamplingUnit::Repeats);
    }

    #[test]
    fn what_shows_no_spread_has_no_interval() {
        assert_eq!(figure(&[], 7), None);
        assert_eq!(figure(&[Cell { case: 0, values: Sums::default() }], 7), None);
        for cells in [
            &[cell(0, &[0.5])][..],
            &[cell(0, &[0.5, 0.7]), cell(0, &[0.5])],
            &[cell(0, &[0.1 + 0.2]), cell(1, &[0.3])],
            &[cell(0, &[0.5, 0.5, 0.5])],
        ] {
            assert_eq!(figure(cells, 7).unwrap().error, None, "{cells:?}");
        }
    }

    #[test]
    fn a_scores_interval_leaves_room_for_cases_that_were_not_seen() {
        let possible = Interval { low: 0.0, high: 1.0 };
        let near = |value: f64, other: f64| assert!((value - other).abs() < 1e-3, "{value} {other}");
        let all: Vec<Cell> = (0..10).map(|case| cell(case, &[1.0])).collect();
        // Clopper and Pearson's of 10 of 10: SciPy's binomtest(10, 10).proportion_ci(0.95).low is 0.6915.
        let all = figure(&all, 7).unwrap();
        near(all.score_interval(possible).unwrap().low, 0.6915);
        assert_eq!((all.is_of_equals, all.interval(possible)), (true, None));
        let jittered: Vec<Cell> = (0..10).map(|case| cell(case, &[0.99 + 0.001 * case as f64])).collect();
        let Interval { low, high } = figure(&jittered, 7).unwrap().score_interval(possible).unwrap();
        near(low, 0.6915 * 0.9945);
        assert!(high < 1.0 && figure(&jittered, 7).unwrap().interval(possible).unwrap().low > 0.99);
        let one_case = figure(&[cell(0, &[1.0; 100])], 7).unwrap();
        near(one_case.score_interval(possible).unwrap().low, 0.9638);
        assert_eq!(
            figure(&[cell(0, &[0.4]), cell(0, &[0.6]), cell(0, &[0.5])], 7).unwrap().score_interval(possible),
            None
        );
        assert_eq!(figure(&[cell(0, &[1.0, 1.0])], 7).unwrap().score_interval(possible), None);
        // What spreads as far as it can has Student's t.
        let spread: Vec<Cell> = (0..30).map(|case| cell(case, &[f64::from(case as u32 % 2)])).collect();
        let spread = figure(&spread, 7).unwrap();
        assert_eq!(spread.score_interval(possible), spread.interval(possible));
    }

    #[test]
    fn skewed_cases_have_bootstrap_t_beside() {
        let even: Vec<Cell> = (0..10).map(|case| cell(case, &[case as f64 / 10.0])).collect();
        let skewed: Vec<Cell> =
            (0..10).map(|case| cell(case, &[if case == 0 { 0.1 } else { 0.97 + case as f64 / 1000.0 }])).collect();
        assert_eq!(figure(&even, 7).unwrap().skewed, None);
        let figure_ = figure(&skewed, 7).unwrap();
        let beside = figure_.skewed.unwrap();
        assert!(beside.low < figure_.interval(ALL).unwrap().low, "{beside:?}");
        assert_eq!(figure(&skewed, 7), figure(&skewed, 7));
    }
}
