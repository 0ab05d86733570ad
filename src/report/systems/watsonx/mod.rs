//! A result folder of watsonx Orchestrate's evaluation framework (`agentops` 1.6): messages, what was wrong with them, figures
//! of each run, and their summary.
//!
//! Invariant: the files are strict JSON. Unknown figures are left out, where the framework itself writes NaN.

mod figures;
mod messages;
mod table;

pub(in crate::report) use table::table;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::result::CaseResult;
use super::{ResultFolder, ResultNames, each_result, write_file, write_json};
use crate::report::WrittenRun;
use crate::report::csv;
use crate::report::format::DocumentResult;
use figures::{Figures, is_column};

/// Writes the results of these runs, in a folder named by the time at which the first of them began, as the framework has
/// it: the results of another time stay beside it.
pub(in crate::report) fn write<E>(runs: &[WrittenRun<'_, E>], folder: &mut dyn ResultFolder) -> DocumentResult<E> {
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let at = runs.first().map(|run| run.overview.summary.started_at.format("%Y-%m-%d_%H-%M-%S").to_string());
    let at = at.unwrap_or_default();
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    let mut averages = Averages::default();
    each_result(runs, &names, |result, repeats| {
        let run_of_case = if repeats { format!(".run{}", result.trial.trial.repeat) } else { String::new() };
        let base = format!("{}{run_of_case}", result.name.file);
        let messages = messages::messages(result);
        write_json(folder, &format!("{at}/messages/{base}.messages.json"), &messages)?;
        let analyzed = messages::analyzed(result, &messages);
        write_json(folder, &format!("{at}/messages/{base}.messages.analyze.json"), &analyzed)?;
        let figures = Figures::new(result, messages.len()).into_map(result);
        write_json(folder, &format!("{at}/messages/{base}.metrics.json"), &figures)?;
        if let Some(error) = &result.error {
            let errors = json!([{ "reason": error, "traceback": null }]);
            write_json(folder, &format!("{at}/messages/{base}.errors.json"), &errors)?;
        }
        write_json(folder, &format!("{at}/{base}.metadata.json"), &json!({ "thread_id": result.session() }))?;
        averages.add(result, &figures);
        rows.push(figures);
        Ok(())
    })?;
    summary(folder, &at, &rows)?;
    write_json(folder, &format!("{at}/average_metrics.json"), &averages.into_json())?;
    let paths: Vec<String> =
        rows.iter().filter_map(|row| row["dataset_name"].as_str()).map(|it| format!("{it}.json")).collect();
    let mut config = String::from("test_paths:\n");
    let mut known = std::collections::BTreeSet::new();
    for path in paths.iter().filter(|path| known.insert(path.as_str())) {
        config.push_str(&format!("- \"{path}\"\n"));
    }
    write_file(folder, &format!("{at}/config.yml"), |to| to.write_all(config.as_bytes()))
}

/// The means of all figures: of a case's runs, then of the cases.
#[derive(Default)]
struct Averages(BTreeMap<String, BTreeMap<String, Mean>>);

/// A sum, and of how many.
#[derive(Default)]
struct Mean(f64, u64);

impl Averages {
    /// Adds a run. Of one that was never held there is nothing to count but that.
    fn add(&mut self, result: &CaseResult<'_>, figures: &Map<String, Value>) {
        let counts = |name: &str| is_column(name) && (result.was_held() || name == "is_error");
        for (name, value) in figures.iter().filter(|(name, _)| counts(name)) {
            if let Some(number) = value.as_f64().or(value.as_bool().map(|truth| f64::from(u8::from(truth)))) {
                let mean = self.0.entry(name.clone()).or_default().entry(result.name.id.clone()).or_default();
                *mean = Mean(mean.0 + number, mean.1 + 1);
            }
        }
    }

    fn into_json(self) -> Map<String, Value> {
        let mean = |(name, cases): (String, BTreeMap<String, Mean>)| {
            let sum: f64 = cases.values().map(|Mean(sum, count)| figures::rounded(sum / *count as f64)).sum();
            (name, figures::rounded(sum / cases.len() as f64).into())
        };
        self.0.into_iter().map(mean).collect()
    }
}

/// `summary_metrics.csv`: a row a run. Unknown values are empty cells.
fn summary<E>(folder: &mut dyn ResultFolder, at: &str, rows: &[Map<String, Value>]) -> DocumentResult<E> {
    let mut columns: Vec<&str> = vec!["run_idx"];
    for name in rows.iter().flat_map(Map::keys) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::Bool(truth)) => if *truth { "True" } else { "False" }.to_owned(),
        Some(Value::String(text)) => csv::text(text),
        Some(other) => other.to_string(),
    };
    write_file(folder, &format!("{at}/summary_metrics.csv"), |to| {
        writeln!(to, "{}", columns.iter().map(|name| csv::text(name)).collect::<Vec<_>>().join(","))?;
        for row in rows {
            writeln!(to, "{}", columns.iter().map(|name| cell(row.get(*name))).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    })
}
