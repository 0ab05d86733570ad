//! Expectations that no metric of the file can compare: they are refused before an agent is asked.

use serde::Deserialize;
use serde_json::Value;

use super::LoweredJob;
use crate::dataset::findings::about_file;
use crate::dataset::{Dataset, DatasetCase};
use crate::job::{Problem, Problems};
use crate::metric::trajectory::{Expectation, ExpectationProblem};
use crate::metric::{MetricConfig, MetricEntry, Rubric, SameId, expectation_problems};

/// The most problems that are shown.
const MOST: usize = 100;

/// Checks what the cases of a dataset expect against the metrics of the job that it became: patterns that are none, texts that
/// are no JSON, rubrics with one id. `typed` names the file of a case that does not.
///
/// # Errors
/// All of them, each with the line of its case.
pub fn check_expected(typed: &str, dataset: &Dataset, job: &LoweredJob) -> Result<(), Problems> {
    let items = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let metrics = items(job.document.get("metrics"));
    let metrics: Vec<MetricEntry> = metrics.into_iter().filter_map(|it| MetricEntry::deserialize(it).ok()).collect();
    let mut list: Vec<Problem> = Vec::new();
    for (case, lowered) in dataset.cases.iter().zip(items(job.document.get("cases"))) {
        let file = case.file.as_ref().map_or_else(|| typed.to_owned(), |file| file.display().to_string());
        for problem in same_rubrics(&metrics, &lowered).into_iter().map(|it| same_rubric(&file, case, it)) {
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
        let lines = items(lowered.get("script")).into_iter().zip(1..);
        let lines = lines.map(|(line, number)| (format!(", message {number}"), line));
        for (place, part) in [(String::new(), lowered)].into_iter().chain(lines) {
            let Some(Ok(expected)) = part.get("expected").map(Expectation::deserialize) else { continue };
            for found in metrics.iter().flat_map(|entry| expectation_problems(&entry.metric, &expected)) {
                let problem = problem(&file, case, (&place, &expected), found);
                if !list.contains(&problem) {
                    list.push(problem);
                }
            }
        }
    }
    let untold = list.len().saturating_sub(MOST);
    list.truncate(MOST);
    if list.is_empty() { Ok(()) } else { Err(Problems { list, untold }) }
}

/// The rubrics of a case that one metric could not tell apart, each with that metric's name.
fn same_rubrics(metrics: &[MetricEntry], lowered: &Value) -> Vec<(String, SameId)> {
    let of = |part: &Value| Expectation::deserialize(part.get("expected")?).ok();
    let whole = of(lowered).unwrap_or_default().rubrics;
    let lines = lowered.get("script").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<Vec<Rubric>> = lines.iter().map(|line| of(line).unwrap_or_default().rubrics).collect();
    let lines: Vec<&[Rubric]> = lines.iter().map(Vec::as_slice).collect();
    let found = metrics.iter().filter_map(|entry| match &entry.metric {
        MetricConfig::Rubric(options) => Some((entry.label(), options.same_ids(entry.label(), &whole, &lines))),
        _ => None,
    });
    found.flat_map(|(label, same)| same.into_iter().map(|it| (label.to_owned(), it))).collect()
}

fn same_rubric(file: &str, case: &DatasetCase, (metric, SameId { id, line, .. }): (String, SameId)) -> Problem {
    let place = line.map(|line| format!(", message {}", line + 1)).unwrap_or_default();
    let message = format!("case {}{place}: the metric {metric} has another rubric with the id `{id}`", case.id);
    Problem { line: case.line.max(1), ..about_file(file, message, Some("give each rubric an id of its own")) }
}

fn problem(
    file: &str,
    case: &DatasetCase,
    (place, expected): (&str, &Expectation),
    found: ExpectationProblem,
) -> Problem {
    let call = found.call.and_then(|at| expected.calls.as_ref()?.get(at));
    let of_call = call.map(|call| format!(", the call of {}, {}", call.label(), found.place)).unwrap_or_default();
    let message = format!("case {}{place}{of_call}: {}", case.id, found.message);
    Problem { line: case.line.max(1), ..about_file(file, message, found.help.as_deref()) }
}
