//! The judge beside people.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::evidence::case_and_persona;
use crate::record::{Label, LabelVerdict, TrialRecord};
use crate::score::{Dimension, Item, PassLine, Score, Scorecard};
use crate::statistics::{
    Agreement, Corrected, Estimate, Pair, Ratings, Unit, agreement, alpha, best_threshold, corrected,
};

/// A part of a dimension that a judge gave a score: an item, or the whole where it has none.
pub fn judged_parts(dimension: &Dimension) -> Vec<(Option<&Item>, Score)> {
    if dimension.items.is_empty() {
        return dimension.component.score().map(|score| (None, score)).into_iter().collect();
    }
    dimension.items.iter().filter_map(|item| Some((Some(item), item.component.score()?))).collect()
}

/// The name of a part within its dimension: two that are alike have a number behind their name; `None` of the whole.
pub fn part_key(parts: &[(Option<&Item>, Score)], place: usize) -> Option<String> {
    let item = parts.get(place)?.0?;
    let is_like =
        |other: &&(Option<&Item>, Score)| other.0.is_some_and(|it| (it.key(), it.turn) == (item.key(), item.turn));
    match parts[..place].iter().filter(is_like).count() {
        0 => Some(item.key().to_owned()),
        before => Some(format!("{} #{}", item.key(), before + 1)),
    }
}

/// The scorecard of a trial about which a judge was asked: it counts for the agent, which replied.
pub fn judged_card(trial: &TrialRecord) -> Option<&Scorecard> {
    let counts = trial.outcome.as_ref().is_some_and(|outcome| outcome.counts());
    let has_reply = trial.evidence.as_ref().is_none_or(|evidence| evidence.transcript.has_reply());
    trial.scorecard.as_ref().filter(|_| counts && has_reply)
}

/// The judge of some runs beside people.
#[derive(Debug, Default)]
pub struct Calibration {
    /// The cases by their ids, each with a number.
    cases: BTreeMap<String, usize>,
    /// How many runs there are so far.
    runs: usize,
    metrics: BTreeMap<String, LabelledMetric>,
}

#[derive(Debug)]
struct LabelledMetric {
    line: PassLine,
    parts: Vec<LabelledPart>,
}

/// One judged part.
#[derive(Debug)]
struct LabelledPart {
    run: usize,
    case: usize,
    score: Score,
    yes: u32,
    no: u32,
    unclear: u32,
    by: BTreeSet<String>,
}

/// The judge of one metric beside people.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricCalibration {
    /// The dimension's name.
    pub metric: String,
    /// How many parts the judge gave a score.
    pub judged: usize,
    /// How many of them people have labelled yes or no, a tie being neither.
    pub labelled: usize,
    /// How many people called unclear, and on how many they are split evenly.
    pub undecided: usize,
    /// The people.
    pub people: People,
    /// The judge beside them; `None` where nothing is labelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<AgreementFigures>,
    /// From which score on a yes agrees best with people, and κ with it; `None` where the judge says only yes and no, or people
    /// always say the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_threshold: Option<(f64, f64)>,
    /// The share that the judge passes.
    pub passed: f64,
    /// The share that people would pass, estimated from the judge's verdicts on everything and theirs on a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Estimate>,
    /// Why there is no such estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_corrected: Option<String>,
    /// How many standard errors the judge's scores of the labelled cases and of the others lie apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<f64>,
    /// How many of several runs have no label of this metric, where others have.
    pub unlabelled_runs: usize,
    /// How many cases with labels would halve its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_halve: Option<usize>,
    /// How many cases have labels, and how many there are.
    pub cases: (usize, usize),
}

/// The people who labelled, and their agreement with each other.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct People {
    /// Their names.
    pub names: Vec<String>,
    /// How many parts several of them labelled.
    pub shared: usize,
    /// Krippendorff's α of those; `None` where there are none, or all say the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Estimate>,
}

/// The judge beside people, in figures.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgreementFigures {
    /// The share on which both agree.
    pub observed: f64,
    /// Cohen's κ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<Estimate>,
    /// Krippendorff's α.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Estimate>,
    /// How many the judge passes and people do not.
    pub too_lenient: usize,
    /// How many people pass and the judge does not.
    pub too_strict: usize,
}

impl Calibration {
    /// Begins another run: whatever is taken in from here on is of it.
    pub fn begin_run(&mut self) {
        self.runs += 1;
    }

    /// Takes in a trial with the labels of its run, whose cases were run with these kinds of users.
    pub fn add(
        &mut self,
        trial: &TrialRecord,
        labels: &[Label],
        personas: &[String],
        is_judged: impl Fn(&str) -> bool,
    ) {
        // Of an agent that never replied no judge was asked.
        let Some(card) = judged_card(trial) else { return };
        let next = self.cases.len();
        let (case, _) = case_and_persona(&trial.trial.case, personas);
        let case = *self.cases.entry(case.to_owned()).or_insert(next);
        for dimension in card.dimensions.iter().filter(|dimension| is_judged(dimension.metric())) {
            let gathered = self
                .metrics
                .entry(dimension.name.clone())
                .or_insert_with(|| LabelledMetric { line: dimension.pass_line(), parts: Vec::new() });
            let parts = judged_parts(dimension);
            for (place, (item, score)) in parts.iter().enumerate() {
                let mut part = LabelledPart {
                    run: self.runs,
                    case,
                    score: *score,
                    yes: 0,
                    no: 0,
                    unclear: 0,
                    by: BTreeSet::new(),
                };
                let (key, turn) = (part_key(&parts, place), item.and_then(|item| item.turn));
                // The last label of each person counts.
                let own =
                    labels.iter().filter(|it| it.is_about(trial.trial.number, &dimension.name, key.as_deref(), turn));
                let last: BTreeMap<&str, LabelVerdict> = own.map(|label| (label.by.as_str(), label.verdict)).collect();
                for (by, verdict) in last {
                    part.by.insert(by.to_owned());
                    match verdict {
                        LabelVerdict::Yes => part.yes += 1,
                        LabelVerdict::No => part.no += 1,
                        LabelVerdict::Unclear => part.unclear += 1,
                    }
                }
                gathered.parts.push(part);
            }
        }
    }

    /// The figures of each metric that a judge scores, by name.
    pub fn figures(&self) -> Vec<MetricCalibration> {
        self.metrics.iter().map(|(metric, gathered)| gathered.figures(metric)).collect()
    }
}

impl LabelledMetric {
    fn passes(&self, part: &LabelledPart) -> f64 {
        f64::from(u8::from(self.line.is_met(part.score)))
    }

    fn figures(&self, metric: &str) -> MetricCalibration {
        let labelled: Vec<(&LabelledPart, f64)> =
            self.parts.iter().filter_map(|part| Some((part, part.truth()?))).collect();
        let pair = |judge: f64, (part, truth): &(&LabelledPart, f64)| Pair { case: part.case, judge, truth: *truth };
        let passed: Vec<Pair> = labelled.iter().map(|it| pair(self.passes(it.0), it)).collect();
        let scored: Vec<Pair> = labelled.iter().map(|it| pair(it.0.score.get(), it)).collect();
        let ratings = |part: &LabelledPart| Ratings { case: part.case, yes: part.yes, no: part.no };
        let rated: Vec<Ratings> = self.parts.iter().filter(|part| part.yes + part.no > 1).map(ratings).collect();
        let names: BTreeSet<&String> = self.parts.iter().flat_map(|part| &part.by).collect();
        let scores: BTreeSet<u64> = self.parts.iter().map(|part| part.score.get().to_bits()).collect();
        let unit =
            |part: &LabelledPart| Unit { case: part.case, weight: 1.0, judge: self.passes(part), truth: part.truth() };
        let estimated = corrected(&self.parts.iter().map(unit).collect::<Vec<_>>());
        let all_cases: BTreeSet<usize> = self.parts.iter().map(|part| part.case).collect();
        let own_cases: BTreeSet<usize> = labelled.iter().map(|(part, _)| part.case).collect();
        let runs: BTreeSet<usize> = self.parts.iter().map(|part| part.run).collect();
        let own_runs: BTreeSet<usize> = labelled.iter().map(|(part, _)| part.run).collect();
        let passes: f64 = self.parts.iter().map(|part| self.passes(part)).sum();
        MetricCalibration {
            metric: metric.to_owned(),
            judged: self.parts.len(),
            labelled: labelled.len(),
            undecided: self.parts.iter().filter(|part| !part.by.is_empty() && part.truth().is_none()).count(),
            people: People { names: names.into_iter().cloned().collect(), shared: rated.len(), alpha: alpha(&rated) },
            agreement: agreement(&passed, 0.5).map(|it| AgreementFigures::new(it, &passed)),
            best_threshold: best_threshold(&scored).filter(|_| scores.len() > 2),
            passed: passes / self.parts.len().max(1) as f64,
            corrected: estimated.map(|it: Corrected| it.mean).ok(),
            not_corrected: estimated.err().map(|error| error.to_string()),
            imbalance: estimated.ok().and_then(|it| it.imbalance),
            unlabelled_runs: if own_runs.is_empty() { 0 } else { runs.len() - own_runs.len() },
            to_halve: estimated.ok().map(|it| it.to_halve),
            cases: (own_cases.len(), all_cases.len()),
        }
    }
}

impl LabelledPart {
    /// The majority of people's labels; `None` where there are none, or they are split evenly.
    fn truth(&self) -> Option<f64> {
        match self.yes.cmp(&self.no) {
            std::cmp::Ordering::Greater => Some(1.0),
            std::cmp::Ordering::Less => Some(0.0),
            std::cmp::Ordering::Equal => None,
        }
    }
}

impl AgreementFigures {
    fn new(agreement: Agreement, pairs: &[Pair]) -> AgreementFigures {
        let count = |judge: f64, truth: f64| pairs.iter().filter(|it| (it.judge, it.truth) == (judge, truth)).count();
        AgreementFigures {
            observed: agreement.observed,
            kappa: agreement.kappa,
            alpha: agreement.alpha,
            too_lenient: count(1.0, 0.0),
            too_strict: count(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::score::{Component, Outcome, Scorecard, Weight};

    fn trial(number: u32, score: f64) -> TrialRecord {
        let id = TrialId {
            number,
            case: format!("case {number}"),
            model: "m".to_owned(),
            condition: Condition::WithoutFacts,
            repeat: 1,
        };
        let component = Component::scored(Score::clamped(score), "");
        let tasks = Dimension {
            good_above: Score::new(0.6),
            items: vec![Item::new("it is booked", component.clone())],
            ..Dimension::new("tasks", Weight::ONE, component.clone())
        };
        TrialRecord {
            outcome: Some(Outcome::Graded),
            scorecard: Some(Scorecard {
                dimensions: vec![tasks],
                failure_count: 0,
                penalty: 0.0,
                composite: component,
            }),
            ..TrialRecord::planned(id)
        }
    }

    fn label(trial: &TrialRecord, by: &str, verdict: LabelVerdict) -> Label {
        Label {
            version: 1,
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
            by: by.to_owned(),
            trial: trial.trial.clone(),
            metric: "tasks".to_owned(),
            item: Some("it is booked".to_owned()),
            turn: None,
            verdict,
        }
    }

    fn figures(trials: &[TrialRecord], labels: &[Label]) -> MetricCalibration {
        let mut calibration = Calibration::default();
        trials.iter().for_each(|trial| calibration.add(trial, labels, &[], |metric| metric == "tasks"));
        calibration.figures().remove(0)
    }

    #[test]
    fn labels_of_some_runs_alone_are_no_random_part() {
        let run = |score: f64| -> Vec<TrialRecord> { (1..=20).map(|number| trial(number, score)).collect() };
        let (first, second) = (run(1.0), run(0.0));
        let labels: Vec<Label> = first.iter().map(|trial| label(trial, "Ann", LabelVerdict::Yes)).collect();
        let mut calibration = Calibration::default();
        for (trials, labels) in [(&first, labels.as_slice()), (&second, &[])] {
            calibration.begin_run();
            trials.iter().for_each(|trial| calibration.add(trial, labels, &[], |_| true));
        }
        assert_eq!(calibration.figures()[0].unlabelled_runs, 1);
        assert_eq!(figures(&first, &labels).unlabelled_runs, 0);
        // The first half, which the judge passes, is labelled.
        let chosen: Vec<TrialRecord> =
            (1..=40).map(|number| trial(number, if number <= 20 { 0.9 } else { 0.1 })).collect();
        let labels: Vec<Label> = chosen.iter().take(20).map(|trial| label(trial, "Ann", LabelVerdict::Yes)).collect();
        assert!(figures(&chosen, &labels).imbalance.is_some_and(|errors| errors > 2.0));
    }

    #[test]
    fn a_judge_that_passes_everything_is_shown_as_such() {
        let trials: Vec<TrialRecord> =
            (1..=60).map(|number| trial(number, 0.7 + f64::from(number % 3) / 10.0)).collect();
        let verdict = |number: u32| if number.is_multiple_of(2) { LabelVerdict::Yes } else { LabelVerdict::No };
        let labels: Vec<Label> =
            trials.iter().take(30).map(|trial| label(trial, "Ann", verdict(trial.trial.number))).collect();
        let figures = figures(&trials, &labels);
        let agreement = figures.agreement.unwrap();
        assert_eq!((figures.judged, figures.labelled, figures.passed), (60, 30, 1.0));
        assert_eq!((agreement.observed, agreement.too_lenient, agreement.too_strict), (0.5, 15, 0));
        assert_eq!(agreement.kappa.unwrap().value, 0.0);
        assert_eq!(figures.corrected.unwrap().value, 0.5);
        assert_eq!(figures.cases, (30, 60));
        assert_eq!(figures.best_threshold, None, "none agrees better than chance");
    }

    #[test]
    fn people_who_are_split_evenly_say_nothing_and_the_last_word_counts() {
        let trials: Vec<TrialRecord> = (1..=3).map(|number| trial(number, 0.9)).collect();
        let labels = [
            label(&trials[0], "Ann", LabelVerdict::Yes),
            label(&trials[0], "Bob", LabelVerdict::No),
            label(&trials[1], "Ann", LabelVerdict::Yes),
            label(&trials[1], "Ann", LabelVerdict::No),
            label(&trials[2], "Bob", LabelVerdict::Unclear),
        ];
        let figures = figures(&trials, &labels);
        assert_eq!((figures.labelled, figures.undecided, figures.people.shared), (1, 2, 1));
        assert_eq!(figures.people.names, ["Ann", "Bob"]);
        assert_eq!(figures.agreement.unwrap().too_lenient, 1);
        assert!(figures.corrected.is_none() && figures.not_corrected.is_some());
    }
}
