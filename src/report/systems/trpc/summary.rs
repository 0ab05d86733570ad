//! The summary of several runs of a set, case by case and run by run.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::result::{CaseResult, MetricResult, Status};
use super::{label, without_empty};
use crate::score::{pass_at_k, pass_hat_k};

/// How often something came out which way.
#[derive(Debug, Clone, Copy, Default)]
struct MetricCounts {
    passed: u64,
    failed: u64,
    not_evaluated: u64,
}

impl MetricCounts {
    fn add(&mut self, status: Status) {
        match status {
            Status::Passed | Status::Informs => self.passed += 1,
            Status::Failed => self.failed += 1,
            Status::NotEvaluated => self.not_evaluated += 1,
        }
    }

    /// One that failed fails all. trpc-agent-go lets one that passed stand for those that were not evaluated; here what
    /// nobody knows is not passed.
    fn status(self) -> Status {
        match self {
            MetricCounts { failed: 1.., .. } => Status::Failed,
            MetricCounts { not_evaluated: 0, passed: 1.., .. } => Status::Passed,
            _ => Status::NotEvaluated,
        }
    }

    fn into_json(self) -> Value {
        let MetricCounts { passed, failed, not_evaluated } = self;
        without_empty(json!({ "passed": passed, "failed": failed, "notEvaluated": not_evaluated }))
    }
}

/// One metric's scores.
#[derive(Debug, Clone, Default)]
struct MetricSum {
    sum: f64,
    scored: u64,
    threshold: f64,
    counts: MetricCounts,
}

/// The metrics of a case or a run, in their order.
#[derive(Debug, Clone, Default)]
struct MetricSums(Vec<(String, MetricSum)>);

impl MetricSums {
    fn add(&mut self, metrics: &[MetricResult<'_>]) {
        for metric in metrics {
            let at = self.0.iter().position(|(name, _)| name == metric.name).unwrap_or_else(|| {
                self.0.push((metric.name.to_owned(), MetricSum::default()));
                self.0.len() - 1
            });
            let sum = &mut self.0[at].1;
            sum.counts.add(metric.status);
            sum.threshold = metric.threshold.map_or(sum.threshold, |threshold| threshold.get());
            if let Some(score) = metric.score {
                (sum.sum, sum.scored) = (sum.sum + score.get(), sum.scored + 1);
            }
        }
    }

    /// The average of those that were evaluated decides.
    fn into_json(self) -> Value {
        let summary = |(name, it): (String, MetricSum)| {
            let average = (it.scored > 0).then(|| it.sum / it.scored as f64);
            let status = average.map_or(Status::NotEvaluated, |average| {
                if average + crate::score::Score::HAIR < it.threshold { Status::Failed } else { Status::Passed }
            });
            without_empty(json!({
                "metricName": name,
                "averageScore": average,
                "evalStatus": label(status),
                "threshold": it.threshold,
                "statusCounts": it.counts.into_json(),
            }))
        };
        self.0.into_iter().map(summary).collect()
    }
}

/// The results of a case.
#[derive(Debug, Default)]
struct CaseSum {
    counts: MetricCounts,
    metrics: MetricSums,
    runs: Vec<Value>,
}

/// The results of a run: all cases once.
#[derive(Debug, Default)]
struct RunSum {
    counts: MetricCounts,
    metrics: MetricSums,
}

/// The figures of some runs.
#[derive(Debug, Default)]
pub(super) struct TrpcSummary {
    cases: Vec<(String, CaseSum)>,
    places: BTreeMap<String, usize>,
    runs: BTreeMap<u32, RunSum>,
    /// How long it took.
    pub(super) nanoseconds: i64,
}

impl TrpcSummary {
    /// Takes in a trial.
    pub(super) fn add(&mut self, result: &CaseResult<'_>) {
        let id = &result.name.id;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.cases.push((id.clone(), CaseSum::default()));
            self.cases.len() - 1
        });
        let case = &mut self.cases[place].1;
        case.counts.add(result.status);
        case.metrics.add(&result.metrics);
        let metric = |metric: &MetricResult<'_>| {
            without_empty(json!({
                "metricName": metric.name,
                "score": metric.score.map(|score| score.get()),
                "evalStatus": label(metric.status),
                "threshold": metric.threshold.map(|threshold| threshold.get()),
            }))
        };
        case.runs.push(without_empty(json!({
            "runId": result.trial.trial.repeat,
            "finalEvalStatus": label(result.status),
            "errorMessage": result.error,
            "metricResults": result.metrics.iter().map(metric).collect::<Vec<_>>(),
        })));
        let run = self.runs.entry(result.trial.trial.repeat).or_default();
        run.counts.add(result.status);
        run.metrics.add(&result.metrics);
    }

    /// The summary as it is written.
    pub(super) fn into_json(self) -> Value {
        let TrpcSummary { cases, runs, nanoseconds, .. } = self;
        let num_runs = runs.len() as u64;
        let mut counts = MetricCounts::default();
        runs.values().for_each(|run| counts.add(run.counts.status()));
        let mut of_cases = MetricCounts::default();
        cases.iter().for_each(|(_, case)| of_cases.add(case.counts.status()));
        let run = |(id, run): (u32, RunSum)| {
            without_empty(json!({
                "runId": id,
                "overallStatus": label(run.counts.status()),
                "caseStatusCounts": run.counts.into_json(),
                "metricSummaries": run.metrics.into_json(),
            }))
        };
        let case = |(id, case): (String, CaseSum)| {
            let mut summary = json!({
                "evalId": id,
                "overallStatus": label(case.counts.status()),
                "runStatusCounts": case.counts.into_json(),
                "metricSummaries": case.metrics.into_json(),
                "runSummaries": case.runs,
            });
            add_passes(&mut summary, case.counts);
            without_empty(summary)
        };
        let mut summary = json!({
            "overallStatus": label(of_cases.status()),
            "numRuns": num_runs,
            "runStatusCounts": counts.into_json(),
            "runSummaries": runs.into_iter().map(run).collect::<Vec<_>>(),
            "evalCaseSummaries": cases.into_iter().map(case).collect::<Vec<_>>(),
            // Its library returns this beside the file; its reader passes over what it does not know.
            "executionTime": nanoseconds,
        });
        add_passes(&mut summary, counts);
        without_empty(summary)
    }
}

/// The most tries for each number of which there is a figure, beside all of them.
const MOST_TRIES: u64 = 10;

/// pass@k and pass^k for each number of tries that there were: of the runs of a case, or of whole sets. Its library computes
/// them from the file; its reader passes over what it does not know.
fn add_passes(summary: &mut Value, counts: MetricCounts) {
    let runs = counts.passed + counts.failed + counts.not_evaluated;
    let each = |of: fn(u64, u64, u64) -> Option<f64>| -> Map<String, Value> {
        let tries = (1..=runs).filter(|k| *k <= MOST_TRIES || *k == runs);
        tries.filter_map(|k| Some((k.to_string(), of(runs, counts.passed, k)?.into()))).collect()
    };
    summary["passAtK"] = each(|runs, passed, k| pass_at_k(runs, passed, k).ok()).into();
    summary["passHatK"] = each(|runs, passed, k| pass_hat_k(runs, passed, k).ok()).into();
}
