//! The judge beside itself: the same conversations, judged several times.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judged_parts;
use crate::evidence::{TrialId, case_and_persona};
use crate::score::{Component, Dimension, Item, PassLine, Scorecard};
use crate::statistics::{Estimate, JudgedScore, Share, SpreadShares, rate, spread_shares};

/// The reason of a part without a judgement.
const NOT_ASKED: &str = "the judge was not asked";

/// The verdicts of several samples of one judge on the same conversations.
#[derive(Debug, Default)]
pub struct Rejudged {
    cases: BTreeMap<String, usize>,
    metrics: BTreeMap<String, Vec<Repeated>>,
    /// Why verdicts can't be used, by metric, and how often.
    reasons: BTreeMap<String, BTreeMap<String, usize>>,
    personas: BTreeMap<String, usize>,
    models: BTreeMap<String, usize>,
    /// The repetitions of each run.
    repeats: BTreeMap<String, usize>,
    /// The score of each conversation by each sample.
    scores: Vec<JudgedScore>,
}

/// One part that was judged several times.
#[derive(Debug)]
struct Repeated {
    case: usize,
    /// Each sample's score, and whether it passes.
    scores: Vec<(f64, bool)>,
    /// How many samples say that it does not apply.
    not_applicable: usize,
    missing: usize,
}

impl Repeated {
    fn new(case: usize) -> Repeated {
        Repeated { case, scores: Vec::new(), not_applicable: 0, missing: 0 }
    }
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
    /// Why, for most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many verdicts there could have been.
    pub asked: usize,
    /// How likely two samples come to different verdicts on the same part; `None` where no part has two.
    pub flip_rate: Option<Estimate>,
    /// The standard deviation of the scores of one part, pooled over the parts; `None` where no part has two.
    pub spread: Option<f64>,
}

/// A conversation that was judged again.
#[derive(Debug, Clone, Copy)]
pub struct RejudgedTrial<'a> {
    /// The trial.
    pub trial: &'a TrialId,
    /// The id of its run.
    pub run: &'a str,
    /// The names of the run's personas.
    pub personas: &'a [String],
}

impl Rejudged {
    /// Takes in the scorecards of one conversation, a sample each.
    pub fn add(&mut self, trial: RejudgedTrial<'_>, samples: &[Scorecard], is_judged: impl Fn(&str) -> bool) {
        let RejudgedTrial { trial, run, personas } = trial;
        let (case, persona) = case_and_persona(&trial.case, personas);
        let case = number(&mut self.cases, case);
        self.scores.push(JudgedScore {
            case,
            persona: number(&mut self.personas, persona.unwrap_or_default()),
            condition: trial.condition as usize,
            model: number(&mut self.models, &trial.model),
            repeat: number(&mut self.repeats, &format!("{run} {}", trial.repeat)),
            scores: samples.iter().filter_map(|card| Some(card.composite.score()?.get())).collect(),
        });
        let mut parts: BTreeMap<(String, String, Option<u32>), Repeated> = BTreeMap::new();
        let dimensions = samples.iter().flat_map(|card| &card.dimensions);
        let dimensions: Vec<&Dimension> = dimensions.filter(|dimension| is_judged(dimension.metric())).collect();
        for dimension in &dimensions {
            let line: PassLine = dimension.pass_line();
            let key = |item: Option<&Item>| {
                let name = item.map(Item::key).unwrap_or_default().to_owned();
                (dimension.name.clone(), name, item.and_then(|item| item.turn))
            };
            for item in &dimension.items {
                let part = parts.entry(key(Some(item))).or_insert_with(|| Repeated::new(case));
                part.not_applicable += usize::from(matches!(item.component, Component::NotApplicable { .. }));
            }
            for (item, score) in judged_parts(dimension) {
                let part = parts.entry(key(item)).or_insert_with(|| Repeated::new(case));
                part.scores.push((score.get(), line.is_met(score)));
            }
            let components = dimension.items.iter().map(|item| &item.component);
            let whole = Some(&dimension.component).filter(|_| dimension.items.is_empty());
            for component in components.chain(whole).filter(|component| component.is_missing()) {
                let reasons = self.reasons.entry(dimension.name.clone()).or_default();
                *reasons.entry(component.why().to_owned()).or_default() += 1;
            }
        }
        // One of which no sample has a part was judged as a whole, or not at all.
        for dimension in dimensions.iter().filter(|dimension| dimension.component.is_missing()) {
            if !parts.keys().any(|(name, ..)| *name == dimension.name) {
                parts.insert((dimension.name.clone(), String::new(), None), Repeated::new(case));
            }
        }
        for ((metric, ..), mut part) in parts {
            part.missing = samples.len().saturating_sub(part.scores.len() + part.not_applicable);
            self.metrics.entry(metric).or_default().push(part);
        }
    }

    /// The shares of cases, users, repetitions and judging in the spread of the score; `None` where one of them was not repeated often
    /// enough.
    pub fn spread_shares(&self) -> Option<SpreadShares> {
        spread_shares(&self.scores)
    }

    /// The figures of each metric, by name.
    pub fn flips(&self) -> Vec<Flips> {
        let most = |metric: &String| {
            // The reason differs where the judge was not asked.
            let is_reason = |why: &str| why != NOT_ASKED;
            let (why, _) = self.reasons.get(metric)?.iter().max_by_key(|(why, count)| (is_reason(why), **count))?;
            Some(why.clone())
        };
        self.metrics.iter().map(|(metric, parts)| flips(metric, most(metric), parts)).collect()
    }
}

impl Flips {
    /// Whether most of its verdicts can't be used: what the few others say is no measure of the judge.
    pub fn is_unusable(&self) -> bool {
        self.missing * 2 > self.asked
    }
}

/// The number of a name, the next one where it is new.
fn number(known: &mut BTreeMap<String, usize>, name: &str) -> usize {
    let next = known.len();
    *known.entry(name.to_owned()).or_insert(next)
}

fn flips(metric: &str, why: Option<String>, parts: &[Repeated]) -> Flips {
    let repeated: Vec<&Repeated> = parts.iter().filter(|part| part.scores.len() > 1).collect();
    let flip = |part: &&Repeated| {
        let (all, passed) = (part.scores.len() as f64, part.scores.iter().filter(|(_, passes)| *passes).count() as f64);
        Share { case: part.case, hits: 2.0 * passed * (all - passed) / (all * (all - 1.0)), all: 1 }
    };
    let squares = |part: &&Repeated| {
        let mean = part.scores.iter().map(|(score, _)| score).sum::<f64>() / part.scores.len() as f64;
        part.scores.iter().map(|(score, _)| (score - mean).powi(2)).sum::<f64>()
    };
    // The variances are pooled: standard deviations of two or three samples are too small on average.
    let degrees: usize = repeated.iter().map(|part| part.scores.len() - 1).sum();
    let spread = (repeated.iter().map(squares).sum::<f64>() / degrees as f64).sqrt();
    let missing = parts.iter().map(|part| part.missing).sum();
    Flips {
        metric: metric.to_owned(),
        parts: repeated.len(),
        missing,
        why,
        asked: missing + parts.iter().map(|part| part.scores.len()).sum::<usize>(),
        flip_rate: rate(&repeated.iter().map(flip).collect::<Vec<_>>()),
        spread: (degrees > 0).then_some(spread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Condition;
    use crate::score::{Score, Weight};

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

    fn trial(case: &str) -> TrialId {
        let (case, model, condition) = (case.to_owned(), "m".to_owned(), Condition::WithoutFacts);
        TrialId { number: 1, case, model, condition, repeat: 1 }
    }

    fn again(trial: &TrialId) -> RejudgedTrial<'_> {
        RejudgedTrial { trial, run: "r", personas: &[] }
    }

    #[test]
    fn verdicts_that_change_are_flips() {
        let mut rejudged = Rejudged::default();
        rejudged.add(again(&trial("a")), &[card(Some(0.9)), card(Some(0.5)), card(Some(0.9)), card(None)], |_| true);
        rejudged
            .add(again(&trial("b")), &[card(Some(0.9)), card(Some(0.9)), card(Some(0.9)), card(Some(0.9))], |_| true);
        let flips = rejudged.flips().remove(0);
        assert_eq!((flips.parts, flips.missing), (2, 1));
        // Two of three pairs of the first differ, none of the second.
        let rate = flips.flip_rate.unwrap();
        assert!((rate.value - 1.0 / 3.0).abs() < 1e-12 && rate.interval.is_some());
        // The squares are 0.1067 and 0, of 2 and 3 degrees of freedom.
        assert!((flips.spread.unwrap() - (0.106_67_f64 / 5.0).sqrt()).abs() < 1e-3, "{flips:?}");
    }

    #[test]
    fn a_judge_of_whom_nothing_can_be_used_is_not_passed_over() {
        let mut rejudged = Rejudged::default();
        rejudged.add(again(&trial("a")), &[card(None), card(None), card(None)], |_| true);
        let flips = rejudged.flips().remove(0);
        assert_eq!((flips.parts, flips.missing, flips.asked, flips.spread), (0, 3, 3, None));
        assert!(flips.flip_rate.is_none() && flips.is_unusable());
        assert_eq!(flips.why.as_deref(), Some("no verdict"));
        // Also where it is the metric as a whole.
        let whole = |component: Component| {
            let dimension = Dimension::new("geval", Weight::ONE, component.clone());
            Scorecard { dimensions: vec![dimension], failure_count: 0, penalty: 0.0, composite: component }
        };
        let mut rejudged = Rejudged::default();
        rejudged
            .add(again(&trial("a")), &[whole(Component::missing("401")), whole(Component::missing("401"))], |_| true);
        let flips = rejudged.flips().remove(0);
        assert_eq!((flips.missing, flips.asked, flips.why.as_deref()), (2, 2, Some("401")));
        // What does not apply is a verdict.
        let mut rejudged = Rejudged::default();
        let mut applies_not = card(Some(0.5));
        applies_not.dimensions[0].items = vec![Item::new("a", Component::not_applicable("never spoken of"))];
        rejudged.add(again(&trial("a")), &[applies_not, card(Some(0.5))], |_| true);
        assert_eq!(rejudged.flips().remove(0).missing, 0);
    }
}
