//! The judge beside itself: the same conversations, judged several times.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judged_parts;
use crate::score::{Item, PassLine, Scorecard};
use crate::statistics::{Estimate, Share, rate};

/// The verdicts of several samples of one judge on the same conversations.
#[derive(Debug, Default)]
pub struct Rejudged {
    cases: BTreeMap<String, usize>,
    metrics: BTreeMap<String, Vec<Repeated>>,
}

/// One part that was judged several times.
#[derive(Debug)]
struct Repeated {
    case: usize,
    /// Each sample's score, and whether it passes.
    scores: Vec<(f64, bool)>,
    missing: usize,
}

/// How often a judge's verdicts flip.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flips {
    /// The dimension's name.
    pub metric: String,
    /// How many parts were judged at least twice.
    pub parts: usize,
    /// How many verdicts could not be used.
    pub missing: usize,
    /// How many verdicts there could have been.
    pub asked: usize,
    /// How likely two samples come to different verdicts on the same part; `None` where no part has two.
    pub flip_rate: Option<Estimate>,
    /// The standard deviation of the scores of one part, on average; `None` where no part has two.
    pub spread: Option<f64>,
}

impl Rejudged {
    /// Takes in the scorecards of one conversation, a sample each.
    pub fn add(&mut self, case: &str, samples: &[Scorecard], is_judged: impl Fn(&str) -> bool) {
        let next = self.cases.len();
        let case = *self.cases.entry(case.to_owned()).or_insert(next);
        let mut parts: BTreeMap<(String, String, Option<u32>), Repeated> = BTreeMap::new();
        for card in samples {
            for dimension in card.dimensions.iter().filter(|dimension| is_judged(dimension.metric())) {
                let line: PassLine = dimension.pass_line();
                let mut part = |key: &str, turn| {
                    let key = (dimension.name.clone(), key.to_owned(), turn);
                    parts.entry(key).or_insert_with(|| Repeated { case, scores: Vec::new(), missing: 0 });
                };
                for item in &dimension.items {
                    part(item.key(), item.turn);
                }
                for (item, score) in judged_parts(dimension) {
                    let key = (
                        dimension.name.clone(),
                        item.map(Item::key).unwrap_or_default().to_owned(),
                        item.and_then(|item| item.turn),
                    );
                    let part = parts.entry(key).or_insert_with(|| Repeated { case, scores: Vec::new(), missing: 0 });
                    part.scores.push((score.get(), line.is_met(score)));
                }
            }
        }
        for ((metric, ..), mut part) in parts {
            part.missing = samples.len() - part.scores.len().min(samples.len());
            self.metrics.entry(metric).or_default().push(part);
        }
    }

    /// The figures of each metric, by name.
    pub fn flips(&self) -> Vec<Flips> {
        self.metrics.iter().map(|(metric, parts)| flips(metric, parts)).collect()
    }
}

fn flips(metric: &str, parts: &[Repeated]) -> Flips {
    let repeated: Vec<&Repeated> = parts.iter().filter(|part| part.scores.len() > 1).collect();
    let flip = |part: &&Repeated| {
        let (all, passed) = (part.scores.len() as f64, part.scores.iter().filter(|(_, passes)| *passes).count() as f64);
        Share { case: part.case, hits: 2.0 * passed * (all - passed) / (all * (all - 1.0)), all: 1 }
    };
    let spread = |part: &&Repeated| {
        let count = part.scores.len() as f64;
        let mean = part.scores.iter().map(|(score, _)| score).sum::<f64>() / count;
        (part.scores.iter().map(|(score, _)| (score - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
    };
    let missing = parts.iter().map(|part| part.missing).sum();
    Flips {
        metric: metric.to_owned(),
        parts: repeated.len(),
        missing,
        asked: missing + parts.iter().map(|part| part.scores.len()).sum::<usize>(),
        flip_rate: rate(&repeated.iter().map(flip).collect::<Vec<_>>()),
        spread: (!repeated.is_empty()).then(|| repeated.iter().map(spread).sum::<f64>() / repeated.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Component, Dimension, Score, Weight};

    fn card(score: Option<f64>) -> Scorecard {
        let component =
            score.map_or_else(|| Component::missing("no verdict"), |it| Component::scored(Score::clamped(it), ""));
        let tasks = Dimension {
            good_above: Score::new(0.6),
            items: vec![Item::new("a", component.clone())],
            ..Dimension::new("tasks", Weight::ONE, component.clone())
        };
        Scorecard { dimensions: vec![tasks], failure_count: 0, penalty: 0.0, composite: component }
    }

    #[test]
    fn verdicts_that_change_are_flips() {
        let mut rejudged = Rejudged::default();
        rejudged.add("a", &[card(Some(0.9)), card(Some(0.5)), card(Some(0.9)), card(None)], |_| true);
        rejudged.add("b", &[card(Some(0.9)), card(Some(0.9)), card(Some(0.9)), card(Some(0.9))], |_| true);
        let flips = rejudged.flips().remove(0);
        assert_eq!((flips.parts, flips.missing), (2, 1));
        // Two of three pairs of the first differ, none of the second.
        let rate = flips.flip_rate.unwrap();
        assert!((rate.value - 1.0 / 3.0).abs() < 1e-12 && rate.interval.is_some());
        assert!((flips.spread.unwrap() - 0.2309 / 2.0).abs() < 1e-3, "{flips:?}");
    }

    #[test]
    fn a_judge_of_whom_nothing_can_be_used_is_not_passed_over() {
        let mut rejudged = Rejudged::default();
        rejudged.add("a", &[card(None), card(None), card(None)], |_| true);
        let flips = rejudged.flips().remove(0);
        assert_eq!((flips.parts, flips.missing, flips.asked, flips.spread), (0, 3, 3, None));
        assert!(flips.flip_rate.is_none());
    }
}
