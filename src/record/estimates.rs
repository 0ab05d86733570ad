//! Estimates for a model: intervals of its figures, pass rates, and latencies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Tally, TrialGroup};
use crate::evidence::Condition;
use crate::score::{pass_at_k, pass_hat_k_unbiased};
use crate::statistics::{
    Cell, Estimate, Figure, Interval, Over, Share, Sums, figure, quantile, quantile_at_least, rate,
};

/// The numbers of tries that pass@k and pass^k are told for.
const TRIES: [u32; 5] = [2, 3, 5, 10, 100];

/// The shares of replies whose times are told, in percent.
const PERCENTILES: [u32; 3] = [50, 95, 99];

const SCORES: Interval = Interval { low: 0.0, high: 1.0 };

/// The estimates for one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimates {
    /// The score, over the cases that have all of their conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<MeanFigure>,
    /// The score in each condition, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<NamedFigure>,
    /// Each metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<NamedFigure>,
    /// The context uplift: the score with the facts less the score without them, case by case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplift: Option<MeanFigure>,
    /// How often its conversations pass, where something is asked of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// How long its replies take, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<Percentile>,
    /// Of the score's spread over cases the share that would be gone were each case held without end, 0 to 1; the rest is how
    /// cases differ. `None` where nothing was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_repeats: Option<f64>,
}

/// A mean over cases with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeanFigure {
    /// How many conversations have a score.
    pub n: u32,
    /// How many cases they are of.
    pub cases: u32,
    /// The mean of the cases' means.
    pub mean: f64,
    /// Its standard error; `None` where nothing shows a spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The degrees of freedom of Student's t.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// Over what the standard error is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// The 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The same by bootstrap-t, where the cases are skewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skewed_interval: Option<Interval>,
}

/// The figure of a condition or a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedFigure {
    /// Its name.
    pub name: String,
    /// Its figure.
    #[serde(flatten)]
    pub figure: MeanFigure,
}

/// How often conversations pass, each by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Passes {
    /// How many conversations pass or do not.
    pub n: u32,
    /// How many pass.
    pub passed: u32,
    /// The share that passes, with Wilson's interval over cases.
    pub rate: Estimate,
    /// How many cases were repeated, each in each of its conditions.
    pub repeated: u32,
    /// How many of those pass in one repetition and not in another.
    pub flaky: u32,
    /// pass@k and pass^k, the means over the cases that were repeated as often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<TriesFigure>,
}

/// The pass rates of several tries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriesFigure {
    /// How many tries.
    pub k: u32,
    /// The chance that at least one passes.
    pub pass_at_k: f64,
    /// The chance that all pass.
    pub pass_hat_k: f64,
}

/// How long the fastest replies take, so many of a hundred.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Percentile {
    /// Of a hundred.
    pub of_hundred: u32,
    /// Milliseconds, with the interval over cases where there are enough of them.
    pub ms: Estimate,
    /// How many milliseconds it is at least, with 95 % confidence; `None` where the replies are too few to tell, and in records
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

impl MeanFigure {
    /// A figure cut to what is possible, its values and spread so many times as large.
    fn new(figure: Figure, possible: Interval, times: f64) -> MeanFigure {
        let scaled = |it: Interval| Interval { low: it.low * times, high: it.high * times };
        let within = Interval { low: possible.low / times, high: possible.high / times };
        MeanFigure {
            n: figure.count,
            cases: figure.cases,
            mean: figure.mean * times,
            standard_error: figure.error.map(|error| error.value * times),
            degrees: figure.error.map(|error| error.degrees),
            over: figure.error.map(|error| error.over),
            interval: figure.interval(within).map(scaled),
            skewed_interval: figure.skewed.map(scaled),
        }
    }

    fn from_cells(cells: &[Cell], rng_seed: u64) -> Option<MeanFigure> {
        figure(cells, rng_seed).map(|figure| MeanFigure::new(figure, SCORES, 1.0))
    }
}

/// The groups of a case, whose number this is.
type CaseGroups<'a> = (usize, Vec<&'a TrialGroup>);

/// The estimates for a model from its groups; `None` where no conversation has a score.
pub(super) fn of_model<'a>(groups: impl Iterator<Item = &'a TrialGroup>, rng_seed: u64) -> Option<Estimates> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases: Vec<CaseGroups<'a>> = Vec::new();
    for group in groups {
        let next = places.len();
        let place = *places.entry(&group.case).or_insert(next);
        if place == cases.len() {
            cases.push((place, Vec::new()));
        }
        cases[place].1.push(group);
    }
    let all = || cases.iter().flat_map(|(case, groups)| groups.iter().map(|group| (*case, *group)));
    if all().all(|(_, group)| group.composite.scored == 0) {
        return None;
    }
    let cell = |(case, group): (usize, &TrialGroup)| Cell { case, values: group.composite.values };
    let whole = cases.iter().filter(|(_, groups)| groups.iter().all(|group| group.composite.scored > 0));
    let cells: Vec<Cell> = whole.flat_map(|(case, groups)| groups.iter().map(|group| cell((*case, group)))).collect();
    let conditions: std::collections::BTreeSet<Condition> = all().map(|(_, group)| group.condition).collect();
    let of_condition = |condition: &Condition| {
        let cells: Vec<Cell> = all().filter(|(_, group)| group.condition == *condition).map(cell).collect();
        let figure = MeanFigure::from_cells(&cells, rng_seed)?;
        Some(NamedFigure { name: condition.label().to_owned(), figure })
    };
    Some(Estimates {
        score: MeanFigure::from_cells(&cells, rng_seed),
        conditions: conditions.iter().filter(|_| conditions.len() > 1).filter_map(of_condition).collect(),
        metrics: metrics(&cases, rng_seed),
        uplift: uplift(&cases, rng_seed),
        passes: passes(&cases),
        latency: latency(&cases),
        share_of_repeats: share_of_repeats(&cells),
    })
}

fn metrics(cases: &[CaseGroups<'_>], rng_seed: u64) -> Vec<NamedFigure> {
    let mut names: Vec<&str> = Vec::new();
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    for (case, groups) in cases {
        for dimension in groups.iter().flat_map(|group| &group.dimensions) {
            let place = names.iter().position(|name| *name == dimension.name).unwrap_or_else(|| {
                names.push(&dimension.name);
                cells.push(Vec::new());
                names.len() - 1
            });
            let Tally { values, .. } = dimension.tally;
            cells[place].push(Cell { case: *case, values });
        }
    }
    let named = |(name, cells): (&str, Vec<Cell>)| {
        Some(NamedFigure { name: name.to_owned(), figure: MeanFigure::from_cells(&cells, rng_seed)? })
    };
    names.into_iter().zip(cells).filter_map(named).collect()
}

/// The score with the facts less the score without them, over the cases that have both.
fn uplift(cases: &[CaseGroups<'_>], rng_seed: u64) -> Option<MeanFigure> {
    let of = |groups: &[&TrialGroup], condition: Condition| -> Option<Sums> {
        let group = groups.iter().find(|group| group.condition == condition)?;
        (group.composite.scored > 0).then_some(group.composite.values)
    };
    let mut cells = Vec::new();
    for (case, groups) in cases {
        let both = of(groups, Condition::WithFacts).zip(of(groups, Condition::WithoutFacts));
        if let Some((with, without)) = both {
            cells.extend([with, without.negated()].map(|values| Cell { case: *case, values }));
        }
    }
    // A case's mean is that of both conditions: half of what one has more than the other.
    figure(&cells, rng_seed).map(|figure| MeanFigure::new(figure, Interval { low: -1.0, high: 1.0 }, 2.0))
}

fn passes(cases: &[CaseGroups<'_>]) -> Option<Passes> {
    let groups: Vec<(usize, u32, u32)> = cases
        .iter()
        .flat_map(|(case, groups)| groups.iter().map(|group| (*case, group.decided, group.passed)))
        .filter(|(_, decided, _)| *decided > 0)
        .collect();
    let share = |&(case, all, hits): &(usize, u32, u32)| Share { case, hits: f64::from(hits), all };
    let rate = rate(&groups.iter().map(share).collect::<Vec<_>>())?;
    let repeated: Vec<_> = groups.iter().filter(|(_, decided, _)| *decided > 1).collect();
    let least = repeated.iter().map(|(_, decided, _)| *decided).min().unwrap_or_default();
    let mut tries: Vec<u32> = TRIES.into_iter().filter(|k| *k <= least).collect();
    if least > 1 && !tries.contains(&least) {
        tries.push(least);
    }
    let mean = |of: &dyn Fn(u64, u64) -> Option<f64>| {
        let each = repeated.iter().filter_map(|&&(_, all, hits)| of(all.into(), hits.into()));
        each.collect::<Sums>().mean().unwrap_or(f64::NAN)
    };
    let tries = tries.into_iter().map(|k| TriesFigure {
        k,
        pass_at_k: mean(&|all, hits| pass_at_k(all, hits, k.into()).ok()),
        pass_hat_k: mean(&|all, hits| pass_hat_k_unbiased(all, hits, k.into()).ok()),
    });
    Some(Passes {
        n: groups.iter().map(|(_, decided, _)| decided).sum(),
        passed: groups.iter().map(|(_, _, passed)| passed).sum(),
        rate,
        repeated: repeated.len() as u32,
        flaky: repeated.iter().filter(|(_, decided, passed)| *passed > 0 && passed < decided).count() as u32,
        tries: tries.collect(),
    })
}

fn latency(cases: &[CaseGroups<'_>]) -> Vec<Percentile> {
    let of_case = |(case, groups): &CaseGroups<'_>| {
        let case = *case;
        let all: Vec<f32> = groups.iter().flat_map(|group| group.latencies.iter().copied()).collect();
        all.into_iter().map(move |ms| (case, f64::from(ms)))
    };
    let values: Vec<(usize, f64)> = cases.iter().flat_map(of_case).collect();
    let times: Vec<f64> = values.iter().map(|(_, ms)| *ms).collect();
    let percentile = |of_hundred: u32| {
        let share = f64::from(of_hundred) / 100.0;
        let ms = quantile(&values, share)?;
        Some(Percentile { of_hundred, ms, at_least: quantile_at_least(&times, share) })
    };
    PERCENTILES.into_iter().filter_map(percentile).collect()
}

/// Of the variance of the cases' means the share that their repetitions make.
fn share_of_repeats(cells: &[Cell]) -> Option<f64> {
    let error = figure(cells, 0)?.error.filter(|error| error.over == Over::Cases)?;
    let mut cases: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for cell in cells {
        let own = cell.values.variance()? / f64::from(cell.values.count);
        cases.entry(cell.case).or_default().push(own);
    }
    let within: Sums = cases.values().map(|own| own.iter().sum::<f64>() / (own.len() as f64).powi(2)).collect();
    let total = error.value * error.value * cases.len() as f64;
    Some((within.mean()? / total).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::TrialId;
    use crate::record::TrialRecord;
    use crate::score::{Component, Outcome, Score, Scorecard};

    fn groups(trials: &[(&str, Condition, f64)]) -> Vec<TrialGroup> {
        let records: Vec<TrialRecord> = trials
            .iter()
            .enumerate()
            .map(|(number, (case, condition, score))| {
                let (number, case, condition) = (number as u32, (*case).to_owned(), *condition);
                let id = TrialId { number, case, model: "m".to_owned(), condition, repeat: number };
                let composite = Component::scored(Score::new(*score).unwrap(), "");
                TrialRecord {
                    outcome: Some(Outcome::Graded),
                    scorecard: Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite }),
                    started_at: Some("2026-01-01T00:00:00Z".parse().unwrap()),
                    ..TrialRecord::planned(id)
                }
            })
            .collect();
        let mut groups = TrialGroup::planned(records.iter().map(|record| &record.trial));
        for record in &records {
            let group = groups.iter_mut().find(|group| group.has(&record.trial));
            group.unwrap().add(record, Score::new(0.5));
        }
        groups
    }

    use Condition::{WithFacts, WithoutFacts};

    #[test]
    fn the_uplift_is_paired_by_case() {
        let trials = [
            ("a", WithoutFacts, 0.1),
            ("a", WithFacts, 0.3),
            ("b", WithoutFacts, 0.6),
            ("b", WithFacts, 0.9),
            ("c", WithoutFacts, 0.5),
            ("c", WithFacts, 0.6),
            ("d", WithFacts, 0.6),
        ];
        let found = of_model(groups(&trials).iter(), 1).unwrap();
        // SciPy 1.17: ttest_rel of [.3, .9, .6] and [.1, .6, .5], its confidence_interval().
        let uplift = found.uplift.unwrap();
        let Interval { low, high } = uplift.interval.unwrap();
        assert!((uplift.mean - 0.2).abs() < 1e-9 && uplift.cases == 3, "{uplift:?}");
        assert!((low + 0.048_413_771_175).abs() < 1e-6 && (high - 0.448_413_771_175).abs() < 1e-6, "{low} {high}");
        assert_eq!(found.score.unwrap().cases, 4);
        assert_eq!(found.conditions.len(), 2);
    }

    #[test]
    fn repetitions_that_disagree_are_flaky_and_tries_are_counted_without_bias() {
        let trials = [0.9, 0.9, 0.2].map(|score| ("a", WithoutFacts, score));
        let others = [0.9, 0.9, 0.9].map(|score| ("b", WithoutFacts, score));
        let found = of_model(groups(&[trials, others].concat()).iter(), 1).unwrap();
        let passes = found.passes.unwrap();
        assert_eq!((passes.n, passes.passed, passes.repeated, passes.flaky), (6, 5, 2, 1));
        let tries: Vec<(u32, f64, f64)> = passes.tries.iter().map(|it| (it.k, it.pass_at_k, it.pass_hat_k)).collect();
        assert_eq!(tries.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
        // Of three of which two pass: one of two passes always, both in one of three choices.
        assert!((tries[0].1 - 1.0).abs() < 1e-9 && (tries[0].2 - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-9, "{tries:?}");
        assert!((tries[1].2 - 0.5).abs() < 1e-9, "{tries:?}");
    }

    #[test]
    fn a_single_conversation_carries_nothing() {
        let one = of_model(groups(&[("a", WithoutFacts, 0.4)]).iter(), 1).unwrap();
        assert_eq!((one.score.unwrap().interval, one.uplift), (None, None));
        assert_eq!(of_model([].iter(), 1), None);
        let two = of_model(groups(&[("a", WithoutFacts, 0.4), ("a", WithFacts, 0.6)]).iter(), 1).unwrap();
        assert_eq!((two.score.unwrap().interval, two.uplift.unwrap().interval), (None, None));
    }

    #[test]
    fn where_repetitions_vary_and_cases_do_not_the_spread_is_theirs() {
        let noisy: Vec<(String, f64)> =
            (0..10).flat_map(|case| [0.2, 0.8, 0.2, 0.8].map(|score| (format!("c{case}"), score))).collect();
        let mut trials: Vec<(&str, Condition, f64)> =
            noisy.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
        trials[0].2 = 0.3;
        let found = of_model(groups(&trials).iter(), 1).unwrap();
        assert_eq!(found.share_of_repeats, Some(1.0));
        let apart: Vec<(String, f64)> = (0..10)
            .flat_map(|case| [0.01, -0.01].map(|it| (format!("c{case}"), f64::from(case) / 10.0 + 0.02 + it)))
            .collect();
        let trials: Vec<(&str, Condition, f64)> =
            apart.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
        assert!(of_model(groups(&trials).iter(), 1).unwrap().share_of_repeats.unwrap() < 0.01);
    }
}
