//! A rate with an interval that also holds where nothing, or everything, is a hit.

use std::collections::BTreeMap;

use super::interval::{Estimate, Interval, LEVEL, t_quantile};
use super::unseen::unseen_share;

/// How many of a case's trials are hits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The case.
    pub case: usize,
    /// How many are hits, from 0 to `all`; a trial may be a hit in part.
    pub hits: f64,
    /// How many there are.
    pub all: u32,
}

/// The rate of hits, with Wilson's interval over the number of independent trials that these are worth: trials of one case
/// are alike, which the spread between the cases shows. It is never narrower than a share of cases could make it that were not seen,
/// and are all hits or none. `None` of no trials.
///
/// Sources: Wilson 1927; effective sample size after Korn and Graubard 1998, with Student's t over the cases.
pub fn rate(shares: &[Share]) -> Option<Estimate> {
    let mut cases: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for share in shares.iter().filter(|share| share.all > 0) {
        let (hits, all) = cases.entry(share.case).or_default();
        *hits += share.hits;
        *all += f64::from(share.all);
    }
    let all: f64 = cases.values().map(|(_, all)| all).sum();
    if all == 0.0 {
        return None;
    }
    let value = cases.values().map(|(hits, _)| hits).sum::<f64>() / all;
    let count = cases.len() as f64;
    if cases.len() < 2 {
        return Some(Estimate { value, interval: None });
    }
    let spread: f64 = cases.values().map(|(hits, own)| (hits - value * own).powi(2)).sum();
    let variance = spread * count / (count - 1.0) / (all * all);
    // Nothing is seen of the spread where all cases agree: each is worth one trial.
    let worth = if variance > 0.0 { (value * (1.0 - value) / variance).min(all) } else { count };
    let squared = t_quantile(cases.len() - 1).powi(2);
    let centre = (value + squared / (2.0 * worth)) / (1.0 + squared / worth);
    let half_width =
        (squared * (value * (1.0 - value) / worth + squared / (4.0 * worth * worth))).sqrt() / (1.0 + squared / worth);
    let is_of_one_kind = value <= 0.0 || value >= 1.0;
    let interval = match is_of_one_kind {
        true => Interval { low: value, high: value },
        false => Interval::around(centre, half_width, Interval { low: 0.0, high: 1.0 }).with(value),
    };
    // A rare case in which all comes out otherwise may not have been drawn, however often the others were repeated.
    let unseen = unseen_share(cases.len() as u32, (1.0 - LEVEL) / 2.0);
    let interval = interval.with(value - unseen * value).with(value + unseen * (1.0 - value));
    Some(Estimate { value, interval: Some(interval) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(hits: u32, all: usize) -> Vec<Share> {
        (0..all).map(|case| Share { case, hits: f64::from(u8::from((case as u32) < hits)), all: 1 }).collect()
    }

    #[test]
    fn of_single_trials_it_is_wilsons() {
        // 10 of 100: statsmodels' proportion_confint(10, 100, method="wilson") is 0.0552..0.1744, with the normal quantile.
        let Interval { low, high } = rate(&singles(10, 100)).unwrap().interval.unwrap();
        assert!((low - 0.0552).abs() < 2e-3 && (high - 0.1744).abs() < 2e-3, "{low} {high}");
    }

    #[test]
    fn nothing_seen_is_not_nothing_there() {
        let none = rate(&singles(0, 20)).unwrap();
        assert_eq!(none.value, 0.0);
        assert!(none.interval.unwrap().high > 0.15);
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[Share { case: 0, hits: 3.0, all: 4 }]), Some(Estimate { value: 0.75, interval: None }));
    }

    #[test]
    fn a_worse_result_never_raises_the_lower_end() {
        let of = |failed: f64| {
            let shares: Vec<Share> = (0..10)
                .map(|case| Share { case, hits: if case == 0 { 20.0 - failed } else { 20.0 }, all: 20 })
                .collect();
            rate(&shares).unwrap().interval.unwrap().low
        };
        assert!(of(1.0) <= of(0.0) && of(2.0) <= of(1.0), "{} {} {}", of(0.0), of(1.0), of(2.0));
        assert!((0.6..0.72).contains(&of(0.0)), "{}", of(0.0));
    }

    #[test]
    fn repetitions_of_cases_of_which_a_few_are_bad_cover_the_truth() {
        for (cases, repeats) in [(10, 20), (30, 20), (30, 100)] {
            let mut rng = fastrand::Rng::with_seed(16);
            let mut covered = 0;
            for _ in 0..1000 {
                let share = |case| {
                    let passes = if rng.f64() < 0.1 { 0.1 } else { 0.995 };
                    let hits = (0..repeats).filter(|_| rng.f64() < passes).count() as f64;
                    Share { case, hits, all: repeats }
                };
                let shares: Vec<Share> = (0..cases).map(share).collect();
                covered += u32::from(rate(&shares).unwrap().interval.unwrap().covers(0.1 * 0.1 + 0.9 * 0.995));
            }
            assert!(covered >= 920, "{cases} cases, {repeats} repetitions: {covered}");
        }
    }

    #[test]
    fn twenty_repetitions_of_five_cases_are_not_a_hundred_trials() {
        let alike: Vec<Share> =
            (0..5).map(|case| Share { case, hits: 20.0 * f64::from(u8::from(case < 2)), all: 20 }).collect();
        let independent = rate(&singles(40, 100)).unwrap().interval.unwrap();
        let alike = rate(&alike).unwrap().interval.unwrap();
        assert!(alike.half_width() > 3.0 * independent.half_width());
    }
}
