//! A judge's mean, corrected by the part whose truth is known: prediction-powered inference with power tuning.

use std::collections::{BTreeMap, BTreeSet};

use super::interval::{Estimate, Interval, standard_error, t_quantile};

/// A mean is corrected by at least this many verified cases.
pub const LEAST_VERIFIED: usize = 10;

/// Something that the judge scored, and whose truth may be known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// The case that it is of.
    pub case: usize,
    /// How much it counts in the mean, above 0.
    pub weight: f64,
    /// The judge's score, 0 to 1.
    pub judge: f64,
    /// The truth about it, 0 to 1, where that is known.
    pub truth: Option<f64>,
}

/// A corrected mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// The judge's own mean over everything.
    pub judged: f64,
    /// The corrected mean.
    pub mean: Estimate,
    /// How far the judge's scores were trusted: 0 is not at all, 1 is as if they were true up to a constant.
    pub trust: f64,
    /// How many cases have something verified.
    pub verified: usize,
    /// How many cases there are.
    pub cases: usize,
    /// How many verified cases would halve the interval; more than there are cases where verifying all would not do.
    pub to_halve: usize,
    /// How much the judge's mean on verified units differs from that on the others, in standard errors; `None` where all are
    /// verified. Verified ones that were drawn at random rarely come above 2.
    pub imbalance: Option<f64>,
}

/// Why a mean is not corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CorrectionError {
    /// Too few cases are verified.
    #[error("that takes {LEAST_VERIFIED} cases of which the truth is known, and there {}", match .0 { 0 => "is none".to_owned(), 1 => "is 1".to_owned(), count => format!("are {count}") })]
    TooFew(usize),
}

/// Half a unit of each combination of yes and no is added before a spread is computed: an interval of few disagreements, or of
/// none, would be far too narrow.
const ADDED: f64 = 0.5;

/// The mean of what is true, estimated from the judge's scores of all units and the truth of some. It is right on average
/// whatever the judge's habits are, if the verified units are a random part of all.
///
/// Sources: PPI++, arXiv 2311.01453 (mean estimation, power tuning); for judges arXiv 2511.21140. The spread is summed within
/// cases, and Student's t has the verified cases − 1 degrees of freedom. Its coverage is in the tests.
///
/// # Errors
/// Too few cases are verified.
pub fn corrected(units: &[Unit]) -> Result<Corrected, CorrectionError> {
    let cases = distinct(units.iter().map(|unit| unit.case));
    let verified = distinct(units.iter().filter(|unit| unit.truth.is_some()).map(|unit| unit.case));
    if verified < LEAST_VERIFIED {
        return Err(CorrectionError::TooFew(verified));
    }
    let (known, unknown): (Vec<Unit>, Vec<Unit>) = units.iter().partition(|unit| unit.truth.is_some());
    let added = added(&known, units);
    let (plain, smooth) = (VerifiedUnits::new(&known, &[]), VerifiedUnits::new(&known, &added));
    let (known_weight, unknown_weight) = (weight(&known), weight(&unknown));
    let judged = mean(units, judge_of).unwrap_or_default();
    let unseen = mean(&unknown, judge_of);
    let best = smooth.covariance / variance(units, judge_of) / (1.0 + known_weight / unknown_weight);
    let trust = if unseen.is_some() && best.is_finite() { best.clamp(0.0, 1.0) } else { 0.0 };
    let shifted = |known: &VerifiedUnits| known.truth + unseen.map_or(0.0, |unseen| trust * (unseen - known.judge));
    let value = shifted(&plain).clamp(0.0, 1.0);
    let half_width = t_quantile(verified - 1) * smooth.standard_error(trust, &unknown);
    let interval = Interval::around(shifted(&smooth), half_width, Interval { low: 0.0, high: 1.0 }).with(value);
    Ok(Corrected {
        judged,
        mean: Estimate { value, interval: Some(interval) },
        trust,
        verified,
        cases,
        to_halve: smooth.to_halve(known_weight, unknown_weight),
        imbalance: unseen.map(|unseen| imbalance(&known, &unknown, plain.judge - unseen)),
    })
}

/// The verified units, with their means.
struct VerifiedUnits<'a> {
    units: &'a [Unit],
    added: &'a [Unit],
    weight: f64,
    truth: f64,
    judge: f64,
    covariance: f64,
    /// The share of the truth's variance that the judge explains, 0 to 1.
    explained: f64,
}

impl<'a> VerifiedUnits<'a> {
    fn new(units: &'a [Unit], added: &'a [Unit]) -> VerifiedUnits<'a> {
        let all: Vec<Unit> = units.iter().chain(added).copied().collect();
        let of = |value: &dyn Fn(&Unit) -> f64| mean(&all, value).unwrap_or_default();
        let (truth, judge) = (of(&truth_of), of(&judge_of));
        let covariance = of(&|unit| (truth_of(unit) - truth) * (unit.judge - judge));
        let explained = covariance * covariance / (variance(&all, truth_of) * variance(&all, judge_of));
        let explained = if explained.is_finite() { explained.clamp(0.0, 1.0) } else { 0.0 };
        VerifiedUnits { units, added, weight: weight(&all), truth, judge, covariance, explained }
    }

    /// The standard error of the corrected mean.
    fn standard_error(&self, trust: f64, unknown: &[Unit]) -> f64 {
        let rest = self.truth - trust * self.judge;
        let influence = |unit: &Unit| unit.weight * (truth_of(unit) - trust * unit.judge - rest) / self.weight;
        let own = self.units.iter().map(|unit| (unit.case, influence(unit)));
        // Half a unit weighs half in the sum of squares.
        let added = self.added.iter().map(|unit| (unit.case, influence(unit) / ADDED.sqrt()));
        let (all, unseen) = (weight(unknown), mean(unknown, judge_of).unwrap_or_default());
        let others = unknown.iter().map(|it| (it.case, trust * it.weight * (it.judge - unseen) / all));
        standard_error(own.chain(added).chain(others))
    }

    /// How many cases, verified, would halve the interval: the variance with the best trust is
    /// σ² × ((1 − ρ²) / verified + ρ² / all).
    fn to_halve(&self, verified: f64, others: f64) -> usize {
        let (all, explained) = (verified + others, self.explained);
        let quarter = ((1.0 - explained) / verified + explained / all) / 4.0;
        let needed = (1.0 - explained) / (quarter - explained / all);
        // With all of them verified there is nothing to correct: the variance is σ² / all.
        (if needed > 0.0 && needed <= all { needed } else { 1.0 / quarter }).ceil() as usize
    }
}

/// The units added to the verified units: half a unit of each combination of yes and no, of cases of their own.
fn added(known: &[Unit], units: &[Unit]) -> Vec<Unit> {
    let half = ADDED * weight(known) / known.len() as f64;
    let first = units.iter().map(|unit| unit.case + 1).max().unwrap_or_default();
    let cells = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
    let unit = |(case, (judge, truth)): (usize, (f64, f64))| Unit { case, weight: half, judge, truth: Some(truth) };
    (first..).zip(cells).map(unit).collect()
}

/// Units of one case are never taken to be quite alike: a standard error is above 0 wherever there is a difference.
const MOST_ALIKE: f64 = 0.99;

/// A difference below this is what arithmetic leaves.
const NO_DIFFERENCE: f64 = 1e-9;

/// How many standard errors lie between the judge's means of both. If verified units were drawn at random, both are of one population:
/// the variance is that of all, since a few that happen to be alike say nothing of their spread. Units of one case are as alike as they
/// are found to be.
fn imbalance(known: &[Unit], unknown: &[Unit], difference: f64) -> f64 {
    if difference.abs() < NO_DIFFERENCE {
        return 0.0;
    }
    let all: Vec<Unit> = known.iter().chain(unknown).copied().collect();
    let cases = distinct(all.iter().map(|unit| unit.case)) as f64;
    let centre = mean(&all, judge_of).unwrap_or_default();
    let spread = variance(&all, judge_of) * cases / (cases - 1.0).max(1.0);
    let deviations = SquaresOfSums::new(all.iter().map(|unit| (unit.case, unit.weight * (unit.judge - centre))));
    let weights = SquaresOfSums::new(all.iter().map(|unit| (unit.case, unit.weight)));
    let alike = (deviations.by_case - deviations.by_unit) / (weights.by_case - weights.by_unit) / spread;
    // Without two units in one case there is nothing to be alike.
    let alike = if alike.is_finite() { alike.clamp(0.0, MOST_ALIKE) } else { 0.0 };
    let share = |units: &[Unit], sign: f64| -> Vec<(usize, f64)> {
        let all = weight(units);
        units.iter().map(|unit| (unit.case, sign * unit.weight / all)).collect()
    };
    let shares = SquaresOfSums::new(share(known, 1.0).into_iter().chain(share(unknown, -1.0)));
    let error = (spread * ((1.0 - alike) * shares.by_unit + alike * shares.by_case)).sqrt();
    difference.abs() / error
}

/// What units add, squared, and summed: unit by unit, and case by case.
struct SquaresOfSums {
    by_unit: f64,
    by_case: f64,
}

impl SquaresOfSums {
    fn new(units: impl Iterator<Item = (usize, f64)>) -> SquaresOfSums {
        let (mut by_unit, mut cases) = (0.0, BTreeMap::<usize, f64>::new());
        for (case, value) in units {
            by_unit += value * value;
            *cases.entry(case).or_default() += value;
        }
        SquaresOfSums { by_unit, by_case: cases.values().map(|sum| sum * sum).sum() }
    }
}

fn judge_of(unit: &Unit) -> f64 {
    unit.judge
}

fn truth_of(unit: &Unit) -> f64 {
    unit.truth.unwrap_or_default()
}

fn weight(units: &[Unit]) -> f64 {
    units.iter().map(|unit| unit.weight).sum()
}

/// The weighted mean; `None` of nothing.
fn mean(units: &[Unit], value: impl Fn(&Unit) -> f64) -> Option<f64> {
    let sum: f64 = units.iter().map(|unit| unit.weight * value(unit)).sum();
    (!units.is_empty()).then(|| sum / weight(units))
}

fn variance(units: &[Unit], value: impl Fn(&Unit) -> f64) -> f64 {
    let centre = mean(units, &value).unwrap_or_default();
    mean(units, |unit| (value(unit) - centre).powi(2)).unwrap_or_default()
}

fn distinct(cases: impl Iterator<Item = usize>) -> usize {
    cases.collect::<BTreeSet<usize>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judge of known habits, and how many cases there are.
    #[derive(Debug, Clone, Copy)]
    struct Setting {
        done: f64,
        sensitivity: f64,
        specificity: f64,
        verified: usize,
        cases: usize,
    }

    fn drawn(setting: Setting, rng: &mut fastrand::Rng) -> Vec<Unit> {
        let unit = |case| {
            let truth = rng.f64() < setting.done;
            let says_yes = rng.f64() < if truth { setting.sensitivity } else { 1.0 - setting.specificity };
            let number = |yes: bool| f64::from(u8::from(yes));
            let known = (case < setting.verified).then(|| number(truth));
            Unit { case, weight: 1.0, judge: number(says_yes), truth: known }
        };
        (0..setting.cases).map(unit).collect()
    }

    /// How often the corrected interval covers the truth, and how often the one that takes the judge's word does.
    fn coverage(setting: Setting, rounds: u32) -> (f64, f64) {
        let mut rng = fastrand::Rng::with_seed(11);
        let (mut corrected_ones, mut naive_ones) = (0, 0);
        for _ in 0..rounds {
            let units = drawn(setting, &mut rng);
            let corrected = corrected(&units).unwrap();
            corrected_ones += u32::from(corrected.mean.interval.unwrap().covers(setting.done));
            let naive = 1.96 * (corrected.judged * (1.0 - corrected.judged) / setting.cases as f64).sqrt();
            naive_ones += u32::from((corrected.judged - setting.done).abs() <= naive);
        }
        (f64::from(corrected_ones) / f64::from(rounds), f64::from(naive_ones) / f64::from(rounds))
    }

    #[test]
    fn the_corrected_interval_covers_the_truth_where_the_naive_one_does_not() {
        let setting = Setting { done: 0.72, sensitivity: 0.95, specificity: 0.7, verified: 100, cases: 400 };
        let (corrected, naive) = coverage(setting, 1000);
        assert!((0.93..=0.97).contains(&corrected) && (0.2..0.5).contains(&naive), "{corrected} {naive}");
        // Exactly, by the binomial distribution: 0.298.
        let (corrected, naive) = coverage(Setting { done: 0.7, ..setting }, 1000);
        assert!((0.93..=0.97).contains(&corrected) && (0.25..0.35).contains(&naive), "{corrected} {naive}");
        let (corrected, naive) = coverage(Setting { done: 0.5, ..setting }, 1000);
        assert!((0.93..=0.97).contains(&corrected) && naive < 0.02, "{corrected} {naive}");
    }

    #[test]
    fn it_does_so_over_a_grid_of_judges_and_sizes() {
        for done in [0.3, 0.5, 0.7] {
            for (sensitivity, specificity) in [(0.95, 0.7), (0.9, 0.9), (0.7, 0.7), (0.8, 0.5), (0.6, 0.9)] {
                for (verified, cases) in [(50, 400), (100, 400), (200, 400), (100, 1000)] {
                    let setting = Setting { done, sensitivity, specificity, verified, cases };
                    // A coverage of 95 % comes out between 94 and 96 % of so many rounds in all but four of a thousand settings,
                    // and between 92.5 and 97.5 % of the few for which an unoptimised build has the time.
                    let (rounds, bounds) =
                        if cfg!(debug_assertions) { (500, 0.92..=0.98) } else { (4000, 0.93..=0.97) };
                    let (covered, _) = coverage(setting, rounds);
                    assert!(bounds.contains(&covered), "{setting:?}: {covered}");
                }
            }
        }
    }

    #[test]
    fn a_judge_that_is_always_right_is_trusted_and_one_that_guesses_is_not() {
        let mut rng = fastrand::Rng::with_seed(3);
        let setting = Setting { done: 0.5, sensitivity: 1.0, specificity: 1.0, verified: 100, cases: 1000 };
        let right = corrected(&drawn(setting, &mut rng)).unwrap();
        let guess = corrected(&drawn(Setting { sensitivity: 0.5, specificity: 0.5, ..setting }, &mut rng)).unwrap();
        assert!(right.trust > 0.8 && guess.trust < 0.2, "{right:?} {guess:?}");
        let width = |it: Corrected| it.mean.interval.unwrap().half_width();
        assert!(width(right) < 0.6 * width(guess));
    }

    #[test]
    fn as_many_as_it_says_halve_it() {
        let mut rng = fastrand::Rng::with_seed(5);
        let setting = Setting { done: 0.5, sensitivity: 0.8, specificity: 0.8, verified: 100, cases: 2000 };
        let now = corrected(&drawn(setting, &mut rng)).unwrap();
        let then = corrected(&drawn(Setting { verified: now.to_halve, ..setting }, &mut rng)).unwrap();
        let halves = then.mean.interval.unwrap().half_width() / now.mean.interval.unwrap().half_width();
        assert!((0.45..0.55).contains(&halves), "{halves} with {}", now.to_halve);
    }

    #[test]
    fn all_verified_is_the_truth_itself_and_few_are_too_few() {
        let unit = |case| Unit { case, weight: 1.0, judge: 1.0, truth: Some(f64::from(u8::from(case % 4 == 0))) };
        let all: Vec<Unit> = (0..40).map(unit).collect();
        let corrected_all = corrected(&all).unwrap();
        assert_eq!((corrected_all.mean.value, corrected_all.judged, corrected_all.imbalance), (0.25, 1.0, None));
        assert_eq!(corrected(&all[..9]), Err(CorrectionError::TooFew(9)));
    }

    #[test]
    fn verified_cases_that_are_unlike_the_others_show() {
        let mut rng = fastrand::Rng::with_seed(9);
        let unit = |case: usize| {
            let easy = case < 50;
            let score = if easy { 0.8 + 0.2 * rng.f64() } else { 0.6 * rng.f64() };
            Unit { case, weight: 1.0, judge: score, truth: easy.then_some(1.0) }
        };
        let units: Vec<Unit> = (0..200).map(unit).collect();
        assert!(corrected(&units).unwrap().imbalance.unwrap() > 4.0);
    }

    /// Cases of so many units each, all alike, of which the first are verified: how far the judge's scores of these are from the others.
    fn imbalance_of(verified: usize, units: usize, judges: &[bool]) -> f64 {
        let unit = |(case, yes): (usize, &bool)| {
            let truth = (case < verified).then_some(1.0);
            let unit = Unit { case, weight: 1.0, judge: f64::from(u8::from(*yes)), truth };
            std::iter::repeat_n(unit, units)
        };
        let units: Vec<Unit> = judges.iter().enumerate().flat_map(unit).collect();
        corrected(&units).unwrap().imbalance.unwrap()
    }

    #[test]
    fn a_random_part_is_rarely_called_unlike_the_rest() {
        for (verified, cases) in [(10, 100), (30, 300)] {
            for (yes, units) in [(0.9, 1), (0.7, 1), (0.9, 3)] {
                let mut rng = fastrand::Rng::with_seed(14);
                let mut draw = || (0..cases).map(|_| rng.f64() < yes).collect::<Vec<bool>>();
                let unlike = (0..2000).filter(|_| imbalance_of(verified, units, &draw()) > 2.0).count();
                assert!(unlike <= 140, "{verified} of {cases}, {yes} yes, {units} each: {unlike} of 2000");
            }
            // The judge says yes to all that are verified, and to half of the others, or to none.
            let half: Vec<bool> = (0..cases).map(|case| case < verified || case % 2 == 0).collect();
            assert!(imbalance_of(verified, 1, &half) > 2.5);
            let none: Vec<bool> = (0..cases).map(|case| case < verified).collect();
            let found = imbalance_of(verified, 1, &none);
            assert!(found.is_finite() && found > 5.0, "{found}");
            assert_eq!(imbalance_of(verified, 1, &vec![true; cases]), 0.0);
        }
    }
}
