//! Estimates for a model: intervals of its figures, pass rates, and latencies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Passes, Tally, TrialGroup, passes};
use crate::evidence::{Condition, case_and_persona};
use crate::statistics::{
    Cell, Estimate, Figure, Interval, Over, Sums, figure, quantile, quantile_at_least, variance_ratio,
};

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
    /// The 95 % interval of that share; `None` without one, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_repeats_interval: Option<Interval>,
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
            skewed_interval: figure.skewed.map(scaled).and_then(|it| it.cut(possible)),
        }
    }

    /// The figure of scores, whose interval leaves room for cases that were not seen. Bootstrap-t stands beside it where it reaches
    /// farther.
    fn from_cells(cells: &[Cell], rng_seed: u64) -> Option<MeanFigure> {
        let figure = figure(cells, rng_seed)?;
        let (own, interval) = (MeanFigure::new(figure, SCORES, 1.0), figure.score_interval(SCORES));
        let is_within = |it: &Interval| interval.is_some_and(|own| own.covers(it.low) && own.covers(it.high));
        let skewed_interval = own.skewed_interval.filter(|it| !is_within(it));
        Some(MeanFigure { interval, skewed_interval, ..own })
    }
}

/// The groups of a case, whose number this is: of each kind of user with whom it was held, in each of its conditions.
pub(super) type CaseGroups<'a> = (usize, Vec<&'a TrialGroup>);

/// The estimates for a model from its groups, whose cases were held with these kinds of users; `None` where no conversation has a
/// score.
pub(super) fn of_model<'a>(
    groups: impl Iterator<Item = &'a TrialGroup>,
    personas: &[String],
    rng_seed: u64,
) -> Option<Estimates> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases: Vec<CaseGroups<'a>> = Vec::new();
    for group in groups {
        let next = places.len();
        let place = *places.entry(case_and_persona(&group.case, personas).0).or_insert(next);
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
    let share_of_repeats = share_of_repeats(&cells);
    Some(Estimates {
        score: MeanFigure::from_cells(&cells, rng_seed),
        conditions: conditions.iter().filter(|_| conditions.len() > 1).filter_map(of_condition).collect(),
        metrics: metrics(&cases, rng_seed),
        uplift: uplift(&cases, rng_seed),
        passes: passes::of_cases(&cases),
        latency: latency(&cases),
        share_of_repeats: share_of_repeats.map(|(share, _)| share),
        share_of_repeats_interval: share_of_repeats.map(|(_, interval)| interval),
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
        for groups in groups.chunk_by(|one, other| one.case == other.case) {
            let both = of(groups, Condition::WithFacts).zip(of(groups, Condition::WithoutFacts));
            if let Some((with, without)) = both {
                cells.extend([with, without.negated()].map(|values| Cell { case: *case, values }));
            }
        }
    }
    // A case's mean is that of both conditions: half of what one has more than the other.
    figure(&cells, rng_seed).map(|figure| MeanFigure::new(figure, Interval { low: -1.0, high: 1.0 }, 2.0))
}

fn latency(cases: &[CaseGroups<'_>]) -> Vec<Percentile> {
    let of_case = |(case, groups): &CaseGroups<'_>| {
        let case = *case;
        let all: Vec<f32> = groups.iter().flat_map(|group| group.latencies.iter().copied()).collect();
        all.into_iter().map(move |ms| (case, f64::from(ms)))
    };
    let values: Vec<(usize, f64)> = cases.iter().flat_map(of_case).collect();
    let percentile = |of_hundred: u32| {
        let share = f64::from(of_hundred) / 100.0;
        let ms = quantile(&values, share)?;
        Some(Percentile { of_hundred, ms, at_least: quantile_at_least(&values, share) })
    };
    PERCENTILES.into_iter().filter_map(percentile).collect()
}

/// Of the variance of the cases' means the share that their repetitions make, with its interval.
///
/// Source: the ratio of both variances by the F distribution, Searle, Casella and McCulloch 1992, section 3.5.
fn share_of_repeats(cells: &[Cell]) -> Option<(f64, Interval)> {
    let error = figure(cells, 0)?.error.filter(|error| error.over == Over::Cases)?;
    let mut cases: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for cell in cells {
        let own = cell.values.variance()? / f64::from(cell.values.count);
        cases.entry(cell.case).or_default().push(own);
    }
    let within: Sums = cases.values().map(|own| own.iter().sum::<f64>() / (own.len() as f64).powi(2)).collect();
    let share = within.mean()? / (error.value * error.value * cases.len() as f64);
    let repeats: u32 = cells.iter().map(|cell| cell.values.count - 1).sum();
    let Interval { low, high } = variance_ratio(error.degrees, f64::from(repeats));
    Some((share.min(1.0), Interval { low: (share * low).min(1.0), high: (share * high).min(1.0) }))
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
        let found = of_model(groups(&trials).iter(), &[], 1).unwrap();
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
        let found = of_model(groups(&[trials, others].concat()).iter(), &[], 1).unwrap();
        let passes = found.passes.unwrap();
        assert_eq!((passes.n, passes.passed, passes.repeated, passes.flaky), (6, 5, 2, 1));
        let tries: Vec<(u32, f64, f64)> = passes.tries.iter().map(|it| (it.k, it.pass_at_k, it.pass_hat_k)).collect();
        assert_eq!(tries.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
        // Of three of which two pass: one of two passes always, both in one of three choices.
        assert!((tries[0].1 - 1.0).abs() < 1e-9 && (tries[0].2 - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-9, "{tries:?}");
        assert!((tries[1].2 - 0.5).abs() < 1e-9, "{tries:?}");
    }

    #[test]
    fn a_case_is_one_whoever_its_users_are() {
        let cases = ["a", "b", "c"];
        let held = |case: &str| [("terse", 0.1), ("hostile", -0.1)].map(|(user, by)| (format!("{case}@{user}"), by));
        let names: Vec<(String, f64)> = cases.iter().flat_map(|case| held(case)).collect();
        let trials: Vec<(&str, Condition, f64)> = (0..)
            .zip(&names)
            .flat_map(|(place, (case, by))| {
                let base = [0.2, 0.5, 0.8][place / 2] + by;
                [(case.as_str(), WithoutFacts, base), (case.as_str(), WithFacts, base + 0.05 * (place / 2) as f64)]
            })
            .collect();
        let personas = ["terse", "hostile"].map(str::to_owned);
        let own = of_model(groups(&trials).iter(), &personas, 1).unwrap();
        let apart = of_model(groups(&trials).iter(), &[], 1).unwrap();
        let (score, uplift) = (own.score.unwrap(), own.uplift.unwrap());
        assert_eq!((score.n, score.cases, score.degrees), (12, 3, Some(2.0)));
        assert_eq!((uplift.cases, uplift.n), (3, 12));
        assert!((uplift.mean - 0.05).abs() < 1e-9, "{uplift:?}");
        assert!(score.interval.unwrap().half_width() > apart.score.unwrap().interval.unwrap().half_width());
        // SciPy 1.17: ttest_1samp([.2, .525, .85], 0).confidence_interval() before it is cut to 0 to 1.
        assert!((score.standard_error.unwrap() - 0.187_638_837_255).abs() < 1e-9, "{score:?}");
    }

    #[test]
    fn repetitions_of_one_case_have_a_rate_with_an_interval_and_no_tries_of_a_single_draw() {
        let trials: Vec<(&str, Condition, f64)> =
            (0..100).map(|at| ("a", WithoutFacts, if at < 70 { 0.9 } else { 0.1 })).collect();
        let passes = of_model(groups(&trials).iter(), &[], 1).unwrap().passes.unwrap();
        // statsmodels' proportion_confint(70, 100, method="wilson") is 0.604 to 0.781, with the normal quantile.
        let Interval { low, high } = passes.rate.interval.unwrap();
        assert!((low - 0.604).abs() < 3e-3 && (high - 0.781).abs() < 3e-3, "{low} {high}");
        assert_eq!(passes.tries.iter().map(|it| it.k).collect::<Vec<_>>(), [2, 3, 5, 10, 50]);
        let all: Vec<(&str, Condition, f64)> = (0..100).map(|_| ("a", WithoutFacts, 1.0)).collect();
        let score = of_model(groups(&all).iter(), &[], 1).unwrap().score.unwrap();
        assert!((score.interval.unwrap().low - 0.964).abs() < 1e-3, "{score:?}");
    }

    #[test]
    fn a_case_that_is_held_with_seven_kinds_of_users_weighs_as_one() {
        let kinds = ["a", "b", "c", "d", "e", "f", "g"].map(str::to_owned);
        let easy: Vec<String> = kinds.iter().map(|kind| format!("easy@{kind}")).collect();
        let easy = easy.iter().map(|case| (case.as_str(), WithoutFacts, 1.0));
        let others = ["v", "w", "x", "y", "z"].map(|case| (case, WithoutFacts, 0.0));
        let found = of_model(groups(&easy.chain(others).collect::<Vec<_>>()).iter(), &kinds, 1).unwrap();
        let passes = found.passes.unwrap();
        assert_eq!((passes.passed, passes.n), (7, 12));
        assert!((passes.rate.value - 1.0 / 6.0).abs() < 1e-9 && (found.score.unwrap().mean - 1.0 / 6.0).abs() < 1e-9);
        assert!(passes.rate.interval.unwrap().high > 0.5, "{passes:?}");
    }

    #[test]
    fn the_interval_of_a_score_is_within_what_is_possible() {
        let cases: Vec<String> = (0..10).map(|case| format!("c{case}")).collect();
        let score = |at: usize| if at == 0 { 0.0 } else { 0.98 + 0.002 * at as f64 };
        let trials: Vec<(&str, Condition, f64)> =
            cases.iter().enumerate().map(|(at, case)| (case.as_str(), WithoutFacts, score(at))).collect();
        let found = of_model(groups(&trials).iter(), &[], 1).unwrap().score.unwrap();
        let Interval { low, high } = found.interval.unwrap();
        assert!(low > 0.5 && high > 0.9 && high <= 1.0, "{found:?}");
        assert!(found.skewed_interval.is_none_or(|it| it.low >= 0.0 && it.high <= 1.0), "{found:?}");
    }

    #[test]
    fn a_single_conversation_carries_nothing() {
        let one = of_model(groups(&[("a", WithoutFacts, 0.4)]).iter(), &[], 1).unwrap();
        assert_eq!((one.score.unwrap().interval, one.uplift), (None, None));
        assert_eq!(of_model([].iter(), &[], 1), None);
        let two = of_model(groups(&[("a", WithoutFacts, 0.4), ("a", WithFacts, 0.6)]).iter(), &[], 1).unwrap();
        assert_eq!((two.score.unwrap().interval, two.uplift.unwrap().interval), (None, None));
    }

    #[test]
    fn where_repetitions_vary_and_cases_do_not_the_spread_is_theirs() {
        let noisy: Vec<(String, f64)> =
            (0..10).flat_map(|case| [0.2, 0.8, 0.2, 0.8].map(|score| (format!("c{case}"), score))).collect();
        let mut trials: Vec<(&str, Condition, f64)> =
            noisy.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
        trials[0].2 = 0.3;
        let found = of_model(groups(&trials).iter(), &[], 1).unwrap();
        assert_eq!(found.share_of_repeats, Some(1.0));
        let apart: Vec<(String, f64)> = (0..10)
            .flat_map(|case| [0.01, -0.01].map(|it| (format!("c{case}"), f64::from(case) / 10.0 + 0.02 + it)))
            .collect();
        let trials: Vec<(&str, Condition, f64)> =
            apart.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
        assert!(of_model(groups(&trials).iter(), &[], 1).unwrap().share_of_repeats.unwrap() < 0.01);
    }
}
