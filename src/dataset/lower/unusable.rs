//! Expectations that no metric of the file can compare: they are refused before an agent is asked.

use serde::Deserialize;
use serde_json::Value;

use super::LoweredJob;
use crate::dataset::findings::about_file;
use crate::dataset::{Dataset, DatasetCase};
use crate::job::{Problem, Problems, SeparateExpectations};
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
    let metrics = items(job.document.get("metrics")).iter().filter_map(|it| MetricEntry::deserialize(it).ok());
    let metrics: Vec<MetricEntry> = metrics.collect();
    let mut list: Vec<Problem> = Vec::new();
    for (case, expected) in dataset.cases.iter().zip(&job.expected) {
        let file = case.file.as_ref().map_or_else(|| typed.to_owned(), |file| file.display().to_string());
        for problem in
            same_rubrics(&metrics, expected).into_iter().map(|(metric, same)| same_rubric(&file, case, metric, same))
        {
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
        // Expectations of the whole case come first, then those of each of its messages.
        for (number, expected) in [&expected.whole].into_iter().chain(&expected.lines).enumerate() {
            let Some(expected) = expected else { continue };
            for found in metrics.iter().flat_map(|entry| expectation_problems(&entry.metric, expected)) {
                let problem = problem(&file, case, number, expected, found);
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

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn rubrics_of(part: &Option<Expectation>) -> &[Rubric] {
    part.as_ref().map_or(&[], |expected| &expected.rubrics)
}

/// The rubrics of a case, of the whole and of each message, that one metric could not tell apart, each with that metric's name.
fn same_rubrics(metrics: &[MetricEntry], expected: &SeparateExpectations) -> Vec<(String, SameId)> {
    let SeparateExpectations { whole, lines } = expected;
    let lines: Vec<&[Rubric]> = lines.iter().map(rubrics_of).collect();
    let found = metrics.iter().filter_map(|entry| match &entry.metric {
        MetricConfig::Rubric(options) => {
            Some((entry.label(), options.same_ids(entry.label(), rubrics_of(whole), &lines)))
        }
        _ => None,
    });
    found.flat_map(|(label, same)| same.into_iter().map(|it| (label.to_owned(), it))).collect()
}

fn same_rubric(file: &str, case: &DatasetCase, metric: String, SameId { id, line, .. }: SameId) -> Problem {
    let place = line.map(|line| format!(", message {}", line + 1)).unwrap_or_default();
    let message = format!("case {}{place}: the metric {metric} has another rubric with the id `{id}`", case.id);
    Problem { line: case.line.max(1), ..about_file(file, message, Some("give each rubric an id of its own")) }
}

fn problem(
    file: &str,
    case: &DatasetCase,
    message: usize,
    expected: &Expectation,
    found: ExpectationProblem,
) -> Problem {
    let place = if message == 0 { String::new() } else { format!(", message {message}") };
    let call = found.call.and_then(|at| expected.calls.as_ref()?.get(at));
    let of_call = call.map(|call| format!(", the call of {}, {}", call.label(), found.place)).unwrap_or_default();
    let message = format!("case {}{place}{of_call}: {}", case.id, found.message);
    Problem { line: case.line.max(1), ..about_file(file, message, found.help.as_deref()) }
}
