//! A run of the job, as far as a trend needs it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FlakeKey, TrendScope};
use crate::compare::RuleDifference;
use crate::evidence::Condition;
use crate::money::Dollars;
use crate::record::{CellFigure, ModelCells, RunFigures, Verdict};
use crate::statistics::{Interval, Sums};

/// The percentile of the replies' times that is shown.
const PERCENTILE: u32 = 95;

/// A run of the job, as far as a trend needs it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Night {
    /// The run's id.
    pub run: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Its name; `no gate` where nothing could have failed the run.
    #[serde(skip)]
    pub verdict_label: &'static str,
    /// The number of the rules that it was run by, from 1: nights of one number can be compared.
    pub rules: usize,
    /// By what it was run otherwise than the night before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<RuleDifference>,
    /// Which of the job's cases were run, where not all of them were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// The known part of its cost in US dollars, that of all its models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Its models, in the order of the run.
    pub models: Vec<NightModel>,
}

/// One model of the agent in a night.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NightModel {
    /// The agent's model.
    pub model: String,
    /// Its score; `None` where a figure is missing.
    pub score: Option<f64>,
    /// The 95 % interval of the score, over cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// How many of its conversations pass by themselves; `None` where nothing is asked of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passed>,
    /// How often a case was run in a condition, at most.
    #[serde(skip)]
    pub repeats: u32,
    /// How long the fastest 95 of 100 replies take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p95: Option<f64>,
    /// Its cases, by their ids.
    #[serde(skip)]
    pub cases: Vec<NightCase>,
}

/// How many conversations pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Passed {
    /// How many pass.
    pub passed: u32,
    /// The number of trials.
    pub of: u32,
}

/// One case of one model in a night.
#[derive(Debug, Clone, PartialEq)]
pub struct NightCase {
    /// Its id.
    pub case: String,
    /// Its score; `None` where a condition has none.
    pub score: Option<f64>,
    /// Its conditions: how many conversations pass in each, of how many, and how many more say nothing of it.
    pub conditions: Vec<(Condition, Passed, u32)>,
}

impl Night {
    /// A run that was made by the rules of this number.
    pub(super) fn new(run: &RunFigures, rules: usize, differs: Vec<RuleDifference>, scope: &TrendScope) -> Night {
        let models = run.models.iter().filter(|figure| scope.has_model(&figure.model));
        Night {
            run: run.run.id.clone(),
            started_at: run.run.started_at,
            verdict: run.run.verdict,
            verdict_label: run.run.verdict_label(),
            rules,
            differs,
            selection: run.selection.clone(),
            cost: run.cost,
            models: models.map(|figure| NightModel::new(figure, scope)).collect(),
        }
    }

    /// Whether conversations of it tell more: some say nothing of the agent, or are of these cases.
    pub fn tells_of(&self, keys: &BTreeSet<&FlakeKey>) -> bool {
        let flips = |model: &NightModel, case: &NightCase| {
            case.conditions.iter().any(|(condition, passes, missing)| {
                let key = || FlakeKey { model: model.model.clone(), case: case.case.clone(), condition: *condition };
                *missing > 0 || (passes.of > 0 && !keys.is_empty() && keys.contains(&key()))
            })
        };
        self.models.iter().any(|model| model.cases.iter().any(|case| flips(model, case)))
    }

    /// Whether it ran to its end and all of it could be scored.
    pub fn is_whole(&self) -> bool {
        !matches!(self.verdict, Verdict::Incomplete | Verdict::Interrupted)
    }

    /// A model of it.
    pub fn model(&self, model: &str) -> Option<&NightModel> {
        self.models.iter().find(|known| known.model == model)
    }
}

impl NightModel {
    fn new(figure: &ModelCells, scope: &TrendScope) -> NightModel {
        let selected = || figure.cases().filter(|(case, ..)| scope.has_case(case));
        let repeats =
            selected().flat_map(|(.., cells)| cells).map(|cell| cell.n + cell.missing).max().unwrap_or_default();
        let mut cases: Vec<NightCase> =
            selected().map(|(case, score, cells)| NightCase::new(case, score, cells)).collect();
        cases.sort_by(|one, other| one.case.cmp(&other.case));
        let of_all = figure.score;
        let score = match (scope.case.is_some(), cases.is_empty()) {
            (false, _) => of_all,
            (true, true) => None,
            (true, false) => cases.iter().map(|case| case.score).collect::<Option<Sums>>().and_then(|sums| sums.mean()),
        };
        let has_all = scope.case.is_none();
        let latency = figure.latency.iter().find(|it| has_all && it.of_hundred == PERCENTILE);
        NightModel {
            model: figure.model.clone(),
            score,
            interval: figure.estimate.filter(|_| has_all && score.is_some()).and_then(|it| it.interval),
            passes: passes(&cases),
            repeats,
            latency_p95: latency.map(|it| it.ms.value),
            cases,
        }
    }

    /// The conditions in which its cases were run, in order.
    pub fn conditions(&self) -> Vec<Condition> {
        let all = self.cases.iter().flat_map(|case| case.conditions.iter().map(|(condition, ..)| *condition));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// A case of it.
    pub fn case(&self, case: &str) -> Option<&NightCase> {
        self.cases.binary_search_by(|known| known.case.as_str().cmp(case)).ok().map(|place| &self.cases[place])
    }
}

fn passes(cases: &[NightCase]) -> Option<Passed> {
    let each = cases.iter().flat_map(|case| &case.conditions);
    let sum = each.fold(Passed { passed: 0, of: 0 }, |sum, (_, own, _)| Passed {
        passed: sum.passed + own.passed,
        of: sum.of + own.of,
    });
    (sum.of > 0).then_some(sum)
}

impl NightCase {
    fn new(case: &str, score: Option<f64>, cells: &[CellFigure]) -> NightCase {
        let condition = |it: &CellFigure| (it.condition, Passed { passed: it.passed, of: it.decided }, it.missing);
        NightCase { case: case.to_owned(), score, conditions: cells.iter().map(condition).collect() }
    }
}
