//! The content of a dataset that a written file has no place for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::open::read_watsonx_config;
use super::watsonx::CONFIG;
use super::write::WrittenDataset;
use super::{Beside, CaseUser, ContextFile, Dataset, DatasetCase, NamedText, Scenario, System, UserLine, load};
use crate::job::Problems;

/// The places of a case, and the words for them: the longest that fits counts.
const WORDS: &[(&str, &str)] = &[
    ("id", "ids of cases as they are"),
    ("description", "descriptions of cases"),
    ("tags", "tags"),
    ("created", "when cases were made"),
    ("user.lines", "fixed messages of the user"),
    ("user.lines.id", "ids of turns"),
    ("user.lines.attachments", "parts of messages that are no text"),
    ("user.lines.context", "messages before a turn"),
    ("user.lines.mocks", "answers of tools that are not to be called"),
    ("user.lines.expectedRunnerMocks", "answers of the expected runner's tools"),
    ("user.lines.expected.reply", "expected replies of single turns"),
    ("user.lines.expected.calls", "expected calls of single turns"),
    ("user.lines.expected.calls.id", "ids of expected calls"),
    ("user.lines.expected.calls.args", "arguments of expected calls as they are"),
    ("user.lines.expected.calls.result", "results of expected calls as they are"),
    ("user.lines.expected.calls.match", "rules for single arguments"),
    ("user.lines.expected.intermediate", "what the agent says before its reply"),
    ("user.lines.expected.rubrics", "rubrics of single turns"),
    ("user.lines.extra", "other keys of turns"),
    ("user.scenario", "simulated users"),
    ("user.scenario.startingPrompt", "first messages of simulated users"),
    ("user.scenario.plan", "plans of simulated users"),
    ("user.scenario.prompts", "fixed messages before a simulated user speaks"),
    ("user.scenario.persona", "personas of simulated users"),
    ("user.scenario.style", "styles of simulated users"),
    ("user.scenario.stopSignal", "what simulated users say when they are done"),
    ("user.scenario.maxTurns", "the most messages of simulated users"),
    ("user.scenario.driver", "with whom simulated users talk"),
    ("user.scenario.extra", "other settings of simulated users"),
    ("session.app", "names of apps or agents"),
    ("session.user", "users of sessions"),
    ("session.id", "ids of sessions"),
    ("session.state", "states that sessions begin with"),
    ("session.context", "messages before conversations"),
    ("session.variables", "variables that go with each message"),
    ("expected.goals", "goals"),
    ("expected.state", "expected states of sessions"),
    ("recorded", "recorded turns"),
    ("expectedRunner", "that a second runner makes the expected side"),
    ("rubrics", "rubrics of cases"),
    ("checks", "what a judge checks"),
    ("contextFiles", "texts for judges"),
];

fn words(path: &str) -> String {
    let fits = |known: &&(&str, &str)| path == known.0 || path.starts_with(&format!("{}.", known.0));
    let known = WORDS.iter().filter(fits).max_by_key(|(known, _)| known.len());
    known.map_or_else(|| format!("`{path}`"), |(_, words)| (*words).to_owned())
}

/// The sentences about what was written and is not read back as it was.
pub(super) fn lost(dataset: &Dataset, written: &WrittenDataset, system: System) -> Vec<String> {
    let mut sentences = Vec::new();
    let back = match read_back(written) {
        Ok(back) => back,
        Err(problem) => {
            let name = system.name();
            return vec![format!("{name} may refuse what was written: {problem}")];
        }
    };
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (at, case) in dataset.cases.iter().enumerate() {
        let mut paths = Vec::new();
        match back.cases.get(at) {
            Some(read) => differences(case, read, &mut paths),
            None => paths.push("id".to_owned()),
        }
        paths.iter().map(|path| words(path)).for_each(|words| {
            let cases = found.entry(words).or_default();
            if cases.last() != Some(&case.id.as_str()) {
                cases.push(&case.id);
            }
        });
    }
    for (what, cases) in found {
        let shown = cases.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if cases.len() > 3 { format!(" and {} more", cases.len() - 3) } else { String::new() };
        sentences.push(format!("{}'s files have no place for {what}: {shown}{more}", system.name()));
    }
    if dataset.kind.system() == system {
        sentences.extend(metrics(dataset, &back));
    }
    if let (Some(description), None) = (&dataset.description, &back.description) {
        sentences.push(format!("{}'s files have no place for the description of a set: {description}", system.name()));
    }
    if let Some(runs) = dataset.runs.filter(|runs| *runs > 1 && back.runs != dataset.runs) {
        sentences.push(format!(
            "{}'s files have no place for a number of runs: each case is run {runs} times",
            system.name()
        ));
    }
    sentences
}

/// Metrics of the same system that are not there as they were.
fn metrics(dataset: &Dataset, back: &Dataset) -> Vec<String> {
    let plain = |metric: &super::DatasetMetric| {
        let mut metric = super::DatasetMetric { place: None, ..metric.clone() };
        metric.options.remove("generation");
        json!(metric)
    };
    let read: BTreeMap<&str, Value> = back.metrics.iter().map(|metric| (metric.name.as_str(), plain(metric))).collect();
    let is_lost = |metric: &&super::DatasetMetric| read.get(metric.name.as_str()) != Some(&plain(metric));
    dataset
        .metrics
        .iter()
        .filter(is_lost)
        .map(|metric| format!("metric {}: it is not there as it was", metric.name))
        .collect()
}

/// Why files that were written can't be read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadBackError {
    /// The first problem of a file, with its place.
    #[error("{0}")]
    Unreadable(String),
    /// No file has a case.
    #[error("there are no cases")]
    NoCases,
}

/// The dataset as our own readers read the files back.
pub(super) fn read_back(written: &WrittenDataset) -> Result<Dataset, ReadBackError> {
    let companion = written.files.iter().find(|file| file.is_companion && file.name.ends_with(".json"));
    let config = companion.map(|file| NamedText { name: file.name.clone(), text: file.text.clone() });
    let context = written.files.iter().filter(|file| file.is_companion).filter_map(|file| {
        let name = file.name.strip_prefix("context/")?.to_owned();
        Some(ContextFile { name, text: file.text.clone() })
    });
    let beside = Beside { config, context: context.collect(), ..Beside::default() };
    let mut all: Option<Dataset> = None;
    for file in written.files.iter().filter(|file| !file.is_companion) {
        let set = load(&file.name, &file.text, &beside).map_err(|problems| unreadable(&problems))?;
        match &mut all {
            None => all = Some(set),
            Some(all) => all.cases.extend(set.cases),
        }
    }
    let mut all = all.ok_or(ReadBackError::NoCases)?;
    if let Some(file) = written.files.iter().find(|file| file.name == CONFIG) {
        let (config, _) = read_watsonx_config(&file.name, &file.text).map_err(|problems| unreadable(&problems))?;
        config.apply(&mut all);
    }
    Ok(all)
}

fn unreadable(problems: &Problems) -> ReadBackError {
    let first = problems.list.first();
    ReadBackError::Unreadable(
        first.map_or_else(String::new, |it| format!("{}, line {}: {}", it.file, it.line, it.message)),
    )
}

/// The places in which a case differs from what was read back.
fn differences(case: &DatasetCase, read: &DatasetCase, paths: &mut Vec<String>) {
    let mut before = DatasetCase { line: 0, ..case.clone() };
    let mut after = DatasetCase { line: 0, ..read.clone() };
    if let (CaseUser::Lines(lines), CaseUser::Scenario(scenario)) = (&mut before.user, &after.user) {
        // Fixed messages are said first there. What is expected then are goals, of which the writer tells what it leaves out.
        for line in lines.iter_mut() {
            (line.expected.calls, line.expected.reply) = (None, None);
        }
        after.user = CaseUser::Lines(as_lines(scenario));
        after.expected.goals = None;
    }
    // watsonx Orchestrate has its state in the variables.
    let in_variables = |(key, value): (&String, &Value)| after.session.variables.get(key) == Some(value);
    if before.session.state.iter().all(in_variables) {
        after.session.state.clone_from(&before.session.state);
    }
    compare(&json!(before), Some(&json!(after)), "", paths);
    paths.dedup();
}

fn as_lines(scenario: &Scenario) -> Vec<UserLine> {
    let said = scenario.starting_prompt.iter().chain(&scenario.prompts);
    said.map(|say| UserLine { say: say.clone(), ..UserLine::default() }).collect()
}

/// Whatever is in `before` and not the same in `after`, by its path without places in lists.
fn compare(before: &Value, after: Option<&Value>, path: &str, paths: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Some(Value::Object(after))) if !is_value(path) => {
            for (key, value) in before {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(value, after.get(key), &path, paths);
            }
        }
        (Value::Array(before), Some(Value::Array(after))) if !is_value(path) && before.len() == after.len() => {
            for (value, other) in before.iter().zip(after) {
                compare(value, Some(other), path, paths);
            }
        }
        (before, after) if Some(before) != after && !(is_nothing(before) && after.is_none()) => {
            // A longer path has its own words.
            match before {
                _ if WORDS.iter().any(|(known, _)| *known == path) => paths.push(path.to_owned()),
                Value::Object(map) if after.is_none() && !is_value(path) => {
                    for (key, value) in map {
                        compare(value, None, &format!("{path}.{key}"), paths);
                    }
                }
                Value::Array(items) if after.is_none() && !is_value(path) && items.iter().any(Value::is_object) => {
                    for value in items {
                        compare(value, None, path, paths);
                    }
                }
                _ => paths.push(path.to_owned()),
            }
        }
        _ => {}
    }
}

/// Whether what is at this path is one value, whatever is in it.
fn is_value(path: &str) -> bool {
    let ends = [".args", ".result", ".extra", ".match", ".state", ".variables", ".attachments", "uploads", ".goals"];
    ends.iter().any(|end| path.ends_with(end)) || path.starts_with("recorded") || path == "extra"
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) => false,
    }
}
