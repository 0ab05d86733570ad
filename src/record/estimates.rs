//! Estimates for a model: intervals of its figures, pass rates, and latencies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Passes, Tally, TrialGroup, passes};
use crate::evidence::{Condition, case_and_persona};
use crate::statistics::{
    CaseValues, Cell, Estimate, Figure, Interval, SamplingUnit, Sums, figure, quantile, quantile_at_least,
    variance_ratio,
};

/// The percentiles of reply times that are reported.
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
    /// The share of the variance of case means that comes from repetitions (noise) rather than from the cases, 0 to 1;
    /// `None` where nothing was repeated.
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
    /// The unit over which the standard error is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<SamplingUnit>,
    /// The 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The interval by Student's t alone, of a score whose `interval` reaches farther: that one leaves room for cases that were not
    /// seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_interval: Option<Interval>,
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

/// A percentile of the reply times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Percentile {
    /// Percent: 95 for the 95th percentile.
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
            t_interval: None,
            skewed_interval: figure.skewed.map(scaled).and_then(|it| it.cut(possible)),
        }
    }

    /// The figure of scores, whose interval leaves room for cases that were not seen. Bootstrap-t stands beside it where it reaches
    /// farther.
    pub(super) fn from_cells(cells: &[Cell], rng_seed: u64) -> Option<MeanFigure> {
        let figure = figure(cells, rng_seed)?;
        let (own, interval) = (MeanFigure::new(figure, SCORES, 1.0), figure.score_interval(SCORES));
        let is_within = |it: &Interval| interval.is_some_and(|own| own.covers(it.low) && own.covers(it.high));
        let skewed_interval = own.skewed_interval.filter(|it| !is_within(it));
        let t_interval = own.interval.filter(|by_t| interval != Some(*by_t));
        Some(MeanFigure { interval, t_interval, skewed_interval, ..own })
    }
}

/// The groups of a case, whose number this is: of each kind of user with whom it was run, in each of its conditions.
pub(super) type CaseGroups<'a> = (usize, Vec<&'a TrialGroup>);

/// The estimates for a model from its groups, whose cases were run with these kinds of users; `None` where no conversation has a
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
        let times = groups.iter().flat_map(|group| group.latencies.counts());
        times.map(move |(ms, count)| CaseValues { case, value: f64::from(ms), count }).collect::<Vec<_>>()
    };
    let values: Vec<CaseValues> = cases.iter().flat_map(of_case).collect();
    let percentile = |of_hundred: u32| {
        let share = f64::from(of_hundred) / 100.0;
        let ms = quantile(&values, share)?;
        Some(Percentile { of_hundred, ms, at_least: quantile_at_least(&values, share) })
    };
    PERCENTILES.into_iter().filter_map(percentile).collect()
}

/// The share of the variance of case means that comes from repetitions, with its interval.
///
/// Source: the ratio of both variances by the F distribution, Searle, Casella and McCulloch 1992, section 3.5.
fn share_of_repeats(cells: &[Cell]) -> Option<(f64, Interval)> {
    let error = figure(cells, 0)?.error.filter(|error| error.over == SamplingUnit::Cases)?;
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
mod tests;
