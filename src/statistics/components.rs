//! Where the spread of a score comes from: cases, repetitions, judging.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sums::Sums;

/// So many degrees of freedom a component needs to be told.
const LEAST_DEGREES: u32 = 3;

/// The score of one conversation, judged once or several times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedScore {
    /// The case.
    pub case: usize,
    /// The kind of conversation within the case: its condition and model.
    pub kind: usize,
    /// The scores by each judging.
    pub scores: Sums,
}

/// The variance of a mean score over cases, by where it comes from: the shares add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpreadShares {
    /// The share by which the cases differ from each other.
    pub cases: f64,
    /// The share by which the repetitions of a case differ, apart from judging: agent and user.
    pub repeats: f64,
    /// The share by which judgings of the same conversation differ.
    pub judging: f64,
}

/// A pooled variance with its degrees of freedom.
#[derive(Default)]
struct Pooled {
    squares: f64,
    degrees: u32,
}

impl Pooled {
    fn add(&mut self, values: &Sums) {
        if let Some(variance) = values.variance() {
            self.squares += variance * f64::from(values.count - 1);
            self.degrees += values.count - 1;
        }
    }

    /// The variance; `None` where too little was repeated to tell it.
    fn variance(&self) -> Option<f64> {
        (self.degrees >= LEAST_DEGREES).then(|| self.squares / f64::from(self.degrees))
    }
}

/// The shares of cases, repetitions and judging in the variance of a mean score whose conversations are judged once each; `None`
/// where one of the three was not repeated often enough to be told, and where nothing varies. A component whose estimate is below
/// 0 counts as 0.
///
/// Source: the method of moments for nested random effects, Searle, Casella and McCulloch 1992, chapter 5.
pub fn spread_shares(judged: &[JudgedScore]) -> Option<SpreadShares> {
    let (mut judging, mut kinds) = (Pooled::default(), BTreeMap::<(usize, usize), Sums>::new());
    let mut of_one_mean = Sums::default();
    for conversation in judged {
        judging.add(&conversation.scores);
        let Some(mean) = conversation.scores.mean() else { continue };
        kinds.entry((conversation.case, conversation.kind)).or_default().add(mean);
        of_one_mean.add(1.0 / f64::from(conversation.scores.count));
    }
    let judging = judging.variance()?;
    let mut repeats = Pooled::default();
    kinds.values().for_each(|kind| repeats.add(kind));
    let within = repeats.variance()?;
    let repeats = (within - judging * of_one_mean.mean()?).max(0.0);
    let mut cases: BTreeMap<usize, Vec<Sums>> = BTreeMap::new();
    kinds.iter().for_each(|((case, _), kind)| cases.entry(*case).or_default().push(*kind));
    // The share of a single conversation's variance that is left in the mean of its case.
    let left = |kinds: &Vec<Sums>| {
        kinds.iter().map(|kind| 1.0 / f64::from(kind.count)).sum::<f64>() / (kinds.len() as f64).powi(2)
    };
    let left = cases.values().map(left).collect::<Sums>().mean()?;
    let mean = |kinds: &Vec<Sums>| kinds.iter().filter_map(Sums::mean).collect::<Sums>().mean();
    let of_means = cases.values().filter_map(mean).collect::<Sums>();
    let between = of_means.variance().filter(|_| of_means.count > LEAST_DEGREES)?;
    let cases = (between - within * left).max(0.0);
    let parts = [cases, repeats * left, judging * left];
    let all: f64 = parts.iter().sum();
    (all > 0.0).then(|| SpreadShares { cases: parts[0] / all, repeats: parts[1] / all, judging: parts[2] / all })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// Conversations with these standard deviations of cases, repetitions and judging.
    fn planted(
        [cases, repeats, judging]: [f64; 3],
        [count, times, samples]: [usize; 3],
        seed: u64,
    ) -> Vec<JudgedScore> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut all = Vec::new();
        for case in 0..count {
            let of_case = cases * normal(&mut rng);
            for kind in 0..2 {
                for _ in 0..times {
                    let of_repeat = of_case + repeats * normal(&mut rng);
                    let scores = (0..samples).map(|_| of_repeat + judging * normal(&mut rng)).collect();
                    all.push(JudgedScore { case, kind, scores });
                }
            }
        }
        all
    }

    #[test]
    fn planted_shares_are_found_again() {
        for deviations in [[0.2, 0.1, 0.05], [0.05, 0.2, 0.1], [0.1, 0.05, 0.3], [0.0, 0.2, 0.0], [0.2, 0.0, 0.1]] {
            for sizes in [[20, 3, 3], [40, 2, 5]] {
                let mut found = [0.0; 3];
                let draws = 200;
                for seed in 0..draws {
                    let SpreadShares { cases, repeats, judging } =
                        spread_shares(&planted(deviations, sizes, seed)).unwrap();
                    assert!((cases + repeats + judging - 1.0).abs() < 1e-9);
                    for (sum, share) in found.iter_mut().zip([cases, repeats, judging]) {
                        *sum += share / f64::from(draws as u32);
                    }
                }
                let left = 1.0 / (2.0 * sizes[1] as f64);
                let [cases, repeats, judging] = deviations.map(|it: f64| it * it);
                let parts = [cases, repeats * left, judging * left];
                let all: f64 = parts.iter().sum();
                for (found, part) in found.iter().zip(parts) {
                    // An estimate that is cut off at 0 is too large on average where there is nothing.
                    let room = if deviations.contains(&0.0) { 0.13 } else { 0.1 };
                    assert!((found - part / all).abs() < room, "{deviations:?} {sizes:?}: {found} {}", part / all);
                }
            }
        }
    }

    #[test]
    fn what_was_not_repeated_is_not_told() {
        for sizes in [[20, 1, 3], [20, 3, 1], [2, 3, 3]] {
            assert_eq!(spread_shares(&planted([0.1, 0.1, 0.1], sizes, 1)), None, "{sizes:?}");
        }
        assert_eq!(spread_shares(&planted([0.0, 0.0, 0.0], [20, 3, 3], 1)), None, "nothing varies");
        assert_eq!(spread_shares(&[]), None);
    }
}
