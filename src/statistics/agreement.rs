//! Agreement of a judge with the truth, or of several raters, beyond chance.

use std::collections::BTreeSet;

use super::interval::{Estimate, Interval, standard_error, t_quantile};

/// One thing that was rated twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The case that it is of.
    pub case: usize,
    /// The judge's score, 0 to 1.
    pub judge: f64,
    /// The other rater's score, or the truth.
    pub truth: f64,
}

/// How many pairs are added for each combination of yes and no before a spread is computed: without them an interval of few
/// disagreements, or of none, is far too narrow.
const ADDED: f64 = 0.5;

/// A judge beside the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// How many pairs there are.
    pub pairs: usize,
    /// How many cases they are of.
    pub cases: usize,
    /// The share on which both agree.
    pub observed: f64,
    /// Cohen's κ; `None` of a single pair, which says nothing of chance.
    pub kappa: Option<Estimate>,
    /// Krippendorff's α; `None` of a single pair.
    pub alpha: Option<Estimate>,
}

/// How far a judge agrees with the truth, both taken as yes at `threshold` or above; `None` of no pairs.
pub fn agreement(pairs: &[Pair], threshold: f64) -> Option<Agreement> {
    let yes = |score: f64| if score >= threshold { 1.0 } else { 0.0 };
    let binary = |pair: &Pair| Pair { judge: yes(pair.judge), truth: yes(pair.truth), ..*pair };
    let binary: Vec<Pair> = pairs.iter().map(binary).collect();
    let agreed = binary.iter().filter(|pair| pair.judge == pair.truth).count();
    let ratings = |pair: &Pair| {
        let yes = u32::from(pair.judge > 0.5) + u32::from(pair.truth > 0.5);
        Ratings { case: pair.case, yes, no: 2 - yes }
    };
    (!pairs.is_empty()).then(|| Agreement {
        pairs: pairs.len(),
        cases: distinct(binary.iter().map(|pair| pair.case)),
        observed: agreed as f64 / pairs.len() as f64,
        kappa: kappa(&binary).filter(|_| pairs.len() > 1),
        alpha: alpha(&binary.iter().map(ratings).collect::<Vec<_>>()).filter(|_| pairs.len() > 1),
    })
}

/// Cohen's κ of pairs that are 0 or 1: agreement beyond what two raters with these habits reach by chance; `None` where chance
/// leaves nothing to agree on.
///
/// Source: Cohen 1960. The interval is κ ± t × the standard error by the delta method, summed within cases, with half a pair
/// added to each cell; its coverage is in the tests.
pub fn kappa(pairs: &[Pair]) -> Option<Estimate> {
    let one = |place: usize| std::array::from_fn(|at| if at == place { 1.0 } else { 0.0 });
    let figure = |cells: [f64; 4]| {
        let all: f64 = cells.iter().sum();
        let [both, judge, truth, neither] = cells.map(|cell| cell / all);
        let chance = (both + judge) * (both + truth) + (neither + truth) * (neither + judge);
        (chance < 1.0 - 1e-12).then(|| (both + neither - chance) / (1.0 - chance))
    };
    estimate(pairs.iter().map(|pair| (pair.case, one(cell(pair)))), [one(0), one(1), one(2), one(3)], figure)
}

/// How something was rated by several raters, each with yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratings {
    /// The case that it is of.
    pub case: usize,
    /// How many said yes.
    pub yes: u32,
    /// How many said no.
    pub no: u32,
}

/// Krippendorff's α of things that were rated yes or no: agreement beyond chance of raters who can be exchanged for each other,
/// whoever rated what. `None` where all ratings are the same, or nothing was rated twice.
///
/// Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". The interval is computed as for [`kappa`].
pub fn alpha(rated: &[Ratings]) -> Option<Estimate> {
    let rated: Vec<Ratings> = rated.iter().filter(|it| it.yes + it.no > 1).copied().collect();
    // What a rated thing adds to the disagreements, and to the ratings of both kinds.
    let parts = |it: &Ratings| {
        let (yes, no) = (f64::from(it.yes), f64::from(it.no));
        [2.0 * yes * no / (yes + no - 1.0), yes, no]
    };
    let figure = |[disagreements, yes, no]: [f64; 3]| {
        let expected = 2.0 * yes * no / (yes + no - 1.0);
        (expected > 1e-12).then(|| 1.0 - disagreements / expected)
    };
    let added = [(2, 0), (1, 1), (1, 1), (0, 2)].map(|(yes, no)| parts(&Ratings { case: 0, yes, no }));
    estimate(rated.iter().map(|it| (it.case, parts(it))), added, figure)
}

/// The cell of a pair: both say yes, only the judge, only the truth, neither.
fn cell(pair: &Pair) -> usize {
    match (pair.judge > 0.5, pair.truth > 0.5) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    }
}

/// A figure of sums to which each rated thing adds its parts, with its interval: the delta method on the sums to which half of
/// each of `added` was added.
fn estimate<const N: usize>(
    rated: impl Iterator<Item = (usize, [f64; N])>,
    added: [[f64; N]; 4],
    figure: impl Fn([f64; N]) -> Option<f64>,
) -> Option<Estimate> {
    let rated: Vec<(usize, [f64; N])> = rated.collect();
    let plus = |sums: [f64; N], parts: &[f64; N], factor: f64| std::array::from_fn(|at| sums[at] + factor * parts[at]);
    let sums: [f64; N] = rated.iter().fold([0.0; N], |sums, (_, parts)| plus(sums, parts, 1.0));
    let value = figure(sums)?;
    let smooth: [f64; N] = added.iter().fold(sums, |sums, parts| plus(sums, parts, ADDED));
    let centre = figure(smooth)?;
    // What one rated thing adds to the figure: the derivative along its parts, less their mean.
    let step = 1e-5;
    let slope = |parts: &[f64; N]| {
        Some((figure(plus(smooth, parts, step))? - figure(plus(smooth, parts, -step))?) / (2.0 * step))
    };
    let count = rated.len() as f64 + 4.0 * ADDED;
    let mean = slope(&smooth)? / count;
    let mut influences = Vec::with_capacity(rated.len() + added.len());
    for (case, parts) in &rated {
        influences.push((*case, slope(parts)? - mean));
    }
    let cases = distinct(rated.iter().map(|(case, _)| *case));
    let first_free = rated.iter().map(|(case, _)| case + 1).max().unwrap_or_default();
    for (place, parts) in added.iter().enumerate() {
        // Half of one weighs half in the sum of squares.
        influences.push((first_free + place, ADDED.sqrt() * (slope(parts)? - mean)));
    }
    let half_width = t_quantile(cases.saturating_sub(1)) * standard_error(influences);
    let interval = Interval::around(centre, half_width, Interval { low: -1.0, high: 1.0 }).with(value);
    Some(Estimate { value, interval: (cases > 1).then_some(interval) })
}

fn distinct(cases: impl Iterator<Item = usize>) -> usize {
    cases.collect::<BTreeSet<usize>>().len()
}

/// The threshold from which on a score is best taken for a yes: where κ with the truth is highest; the middle between the
/// two scores around it, and the higher κ of equals nearest to 0.5. `None` where the truth is always the same.
///
/// A threshold with which the judge agrees no better than by chance is none.
pub fn best_threshold(pairs: &[Pair]) -> Option<(f64, f64)> {
    let mut scores: Vec<f64> = pairs.iter().map(|pair| pair.judge).collect();
    scores.sort_by(f64::total_cmp);
    scores.dedup();
    let between = scores.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    let at = |threshold: f64| {
        let yes = |score: f64| if score >= threshold { 1.0 } else { 0.0 };
        let pairs: Vec<Pair> = pairs.iter().map(|pair| Pair { judge: yes(pair.judge), ..*pair }).collect();
        Some((threshold, kappa(&pairs)?.value))
    };
    let better = |a: &(f64, f64), b: &(f64, f64)| {
        a.1.total_cmp(&b.1).then_with(|| (b.0 - 0.5).abs().total_cmp(&(a.0 - 0.5).abs()))
    };
    let truths = || pairs.iter().map(|pair| pair.truth > 0.5);
    let is_mixed = truths().any(|truth| truth) && truths().any(|truth| !truth);
    between.filter(|_| is_mixed).filter_map(at).max_by(better).filter(|(_, kappa)| *kappa > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of cases of their own, by cell.
    fn pairs(cells: [usize; 4]) -> Vec<Pair> {
        let rated = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)];
        let all = rated.iter().zip(cells).flat_map(|(rated, count)| std::iter::repeat_n(*rated, count));
        all.enumerate().map(|(case, (judge, truth))| Pair { case, judge, truth }).collect()
    }

    #[test]
    fn kappa_and_alpha_are_those_of_the_books() {
        // Cohen's κ of 20, 5, 10, 15: (0.7 − 0.5) / 0.5.
        assert!((kappa(&pairs([20, 5, 10, 15])).unwrap().value - 0.4).abs() < 1e-12);
        // Krippendorff 2011, section A: binary data, two observers, ten units: 0.095.
        let of = |cells| agreement(&pairs(cells), 0.5).unwrap().alpha;
        assert!((of([1, 1, 3, 5]).unwrap().value - 0.095).abs() < 5e-4);
        assert_eq!(kappa(&pairs([7, 0, 0, 0])), None, "nothing to agree on");
        assert_eq!(of([0, 0, 0, 9]), None);
        assert_eq!(kappa(&[]), None);
    }

    #[test]
    fn raters_need_not_have_rated_everything() {
        // Four raters of three things; what only one rated says nothing.
        let rated = [(3, 1), (0, 4), (1, 0), (2, 0)];
        let rated: Vec<Ratings> =
            rated.iter().enumerate().map(|(case, &(yes, no))| Ratings { case, yes, no }).collect();
        // 3 × 1 × 2 / 3 = 2 disagreements; 5 yes and 5 no of 10: expected 50 / 9.
        assert!((alpha(&rated).unwrap().value - (1.0 - 2.0 / (50.0 / 9.0))).abs() < 1e-12);
        assert_eq!(alpha(&rated[2..3]), None);
    }

    #[test]
    fn agreement_that_looks_high_shrinks_once_chance_is_taken_out() {
        let agreement = agreement(&pairs([90, 9, 0, 1]), 0.5).unwrap();
        assert_eq!(agreement.observed, 0.91);
        assert!(agreement.kappa.unwrap().value < 0.2);
    }

    /// A judge whose confusion is known: how often its interval covers the true κ.
    fn coverage(prevalence: f64, sensitivity: f64, specificity: f64, count: usize) -> f64 {
        let mut rng = fastrand::Rng::with_seed(7);
        let both = prevalence * sensitivity;
        let judge = (1.0 - prevalence) * (1.0 - specificity);
        let truth = prevalence - both;
        let chance = (both + judge) * prevalence + (1.0 - both - judge) * (1.0 - prevalence);
        let true_kappa = (1.0 - judge - truth - chance) / (1.0 - chance);
        let rounds = 600;
        let covered = (0..rounds).filter(|_| {
            let mut cells = [0; 4];
            for _ in 0..count {
                let drawn = rng.f64();
                let bounds = [both, both + judge, both + judge + truth, 1.0];
                cells[bounds.iter().position(|bound| drawn < *bound).unwrap_or(3)] += 1;
            }
            kappa(&pairs(cells)).is_none_or(|kappa| kappa.interval.unwrap().covers(true_kappa))
        });
        covered.count() as f64 / f64::from(rounds)
    }

    /// How often percentiles of a bootstrap cover the true κ of a judge that finds 95 % of what was done and half of what was not, in
    /// studies of 20 pairs of which nine of ten were done.
    fn bootstrap_coverage() -> f64 {
        let mut rng = fastrand::Rng::with_seed(7);
        let bounds = [0.855, 0.905, 0.95, 1.0];
        let true_kappa = (0.905 - 0.824) / (1.0 - 0.824);
        let rounds = 400;
        let covered = (0..rounds).filter(|_| {
            let drawn: Vec<usize> = (0..20)
                .map(|_| {
                    let drawn = rng.f64();
                    bounds.iter().position(|bound| drawn < *bound).unwrap_or(3)
                })
                .collect();
            let mut again = || {
                let mut cells = [0; 4];
                (0..20).for_each(|_| cells[drawn[rng.usize(..20)]] += 1);
                kappa(&pairs(cells)).map(|kappa| kappa.value)
            };
            let mut values: Vec<f64> = (0..200).filter_map(|_| again()).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values.get((share * values.len() as f64) as usize).copied();
            at(0.025).zip(at(0.975)).is_some_and(|(low, high)| (low..=high).contains(&true_kappa))
        });
        covered.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn a_bootstrap_of_few_pairs_covers_less() {
        let covered = bootstrap_coverage();
        assert!((0.5..0.7).contains(&covered), "{covered}");
        assert!(coverage(0.9, 0.95, 0.5, 20) > 0.92);
    }

    #[test]
    fn known_confusion_is_recovered_within_the_interval() {
        for (prevalence, sensitivity, specificity) in
            [(0.5, 0.9, 0.9), (0.7, 0.95, 0.7), (0.8, 0.7, 0.7), (0.9, 0.95, 0.5)]
        {
            for count in [20, 50, 200] {
                let covered = coverage(prevalence, sensitivity, specificity, count);
                assert!(covered > 0.92, "{prevalence} {sensitivity} {specificity} {count}: {covered}");
            }
        }
    }

    #[test]
    fn repetitions_of_a_case_are_not_new_cases() {
        let single = pairs([8, 2, 2, 8]);
        let repeated: Vec<Pair> = single.iter().flat_map(|pair| std::iter::repeat_n(*pair, 10)).collect();
        let (single, repeated) = (kappa(&single).unwrap(), kappa(&repeated).unwrap());
        assert!((single.value - repeated.value).abs() < 1e-12);
        assert!(repeated.interval.unwrap().half_width() > 0.8 * single.interval.unwrap().half_width());
    }

    #[test]
    fn the_best_threshold_separates() {
        let scored = [(0.2, 0.0), (0.7, 0.0), (0.75, 1.0), (0.9, 1.0), (0.3, 0.0)];
        let pairs: Vec<Pair> =
            scored.iter().enumerate().map(|(case, &(judge, truth))| Pair { case, judge, truth }).collect();
        assert_eq!(best_threshold(&pairs), Some((0.725, 1.0)));
        assert_eq!(best_threshold(&pairs[..2]), None, "the truth is always no");
        let upside_down: Vec<Pair> = pairs.iter().map(|pair| Pair { truth: 1.0 - pair.truth, ..*pair }).collect();
        assert_eq!(best_threshold(&upside_down), None, "no threshold is better than chance");
        assert_eq!(agreement(&pairs[..1], 0.5).unwrap().kappa, None, "one pair says nothing of chance");
    }
}
