//! Metrics that find nothing to measure in any case, and cases in which no metric that counts does.

use crate::job::{Case, Job};
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricConfig, MetricEntry};
use crate::score::Weight;

/// The most cases that a warning lists.
const MAX_LISTED: usize = 3;

/// The expectation that a metric needs, as a noun, and its spelling in the job.
fn required_expectation(metric: &MetricConfig) -> Option<(&'static str, &'static str)> {
    Some(match metric {
        MetricConfig::Rouge(_) | MetricConfig::Text(_) | MetricConfig::Json(_) => ("a reply", "expected: {reply: …}"),
        MetricConfig::Keywords(_) => ("keywords", "expected: {keywords: […]}"),
        MetricConfig::State(_) => ("a state", "expected: {state: …}"),
        MetricConfig::Trajectory(_) => ("calls or goals", "expected: {calls: […]}"),
        _ => return None,
    })
}

/// Whether a metric finds in a case what it compares with. Those of which that is not known before do.
fn measures(metric: &MetricConfig, case: &Case) -> bool {
    if case.reference.is_some() {
        return true;
    }
    let any = |is_it: &dyn Fn(&Expectation) -> bool| case.expectations().any(is_it);
    let reply = || any(&|expected| expected.reply.is_some());
    match metric {
        MetricConfig::Rouge(_) => reply(),
        MetricConfig::Text(config) => config.expected.is_some() || config.length.is_some() || reply(),
        MetricConfig::Json(config) => {
            config.expected.is_some() || config.schema.is_some() || !config.paths.is_empty() || reply()
        }
        MetricConfig::Keywords(_) => any(&|expected| !expected.keywords.is_empty()),
        MetricConfig::State(_) => any(&|expected| expected.state.is_some()),
        MetricConfig::Trajectory(check) => any(&|expected| check.config().compares_all(expected)),
        MetricConfig::Tasks(_) => !case.tasks.is_empty(),
        MetricConfig::Assertions(_) => !case.assertions.is_empty(),
        _ => true,
    }
}

fn counts<'j>(job: &'j Job) -> impl Fn(&&'j MetricEntry) -> bool {
    |entry| entry.weight(&job.weights) > Weight::ZERO
}

/// Metrics that measure nothing in any case, and cases in which nothing that counts is measured.
pub(super) fn warnings(job: &Job) -> Vec<String> {
    let matters = |entry: &&MetricEntry| entry.threshold.is_some() || counts(job)(entry);
    let unmeasured = job.metrics.iter().filter(matters).filter_map(|entry| {
        let (what, how) = required_expectation(&entry.metric)?;
        let is_measured = job.cases.iter().any(|case| measures(&entry.metric, case));
        let label = entry.label();
        (!is_measured).then(|| format!("the metric {label} measures nothing: no case expects {what} ({how})"))
    });
    let is_scored = |case: &Case| job.metrics.iter().filter(counts(job)).any(|entry| measures(&entry.metric, case));
    let unscored: Vec<&str> = job.cases.iter().filter(|case| !is_scored(case)).map(|case| case.id.as_str()).collect();
    let of_cases = (!unscored.is_empty()).then(|| {
        let named = unscored.iter().take(MAX_LISTED).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        let more = match unscored.len() {
            0..=MAX_LISTED => String::new(),
            all => format!(" and {} more", all - MAX_LISTED),
        };
        format!(
            "nothing that counts is measured in {named}{more}, which may have no score: say what is `expected` there"
        )
    });
    unmeasured.chain(of_cases).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn job(metrics: Value, cases: Value) -> Job {
        let target = json!({"user": "u", "chatbot": "c", "demo": {}});
        Job::restored(&json!({"name": "j", "target": target, "metrics": metrics, "cases": cases})).unwrap()
    }

    #[test]
    fn a_metric_that_compares_with_nothing_is_named() {
        let cases = json!([{"id": "a", "expected": {"keywords": ["done"]}}]);
        let found = warnings(&job(json!([{"rouge": {}, "threshold": 0.5}, "keywords", "state"]), cases.clone()));
        assert_eq!(
            found,
            [
                "the metric rouge measures nothing: no case expects a reply (expected: {reply: …})",
                "the metric state measures nothing: no case expects a state (expected: {state: …})",
            ]
        );
        for measured in [json!(["keywords"]), json!(["keywords", {"text": {"length": {"max": 9}}}]), json!(["timing"])]
        {
            assert_eq!(warnings(&job(measured, cases.clone())), [""; 0]);
        }
    }

    #[test]
    fn a_case_without_a_score_is_named() {
        let cases = json!([{"id": "a", "expected": {"keywords": ["done"]}}, {"id": "b"}]);
        let found = warnings(&job(json!(["keywords"]), cases));
        let words = "nothing that counts is measured in `b`, which may have no score: say what is `expected` there";
        assert_eq!(found, [words]);
    }
}
