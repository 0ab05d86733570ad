//! The metrics of a dataset as those of a job.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::LowerOptions;
use crate::dataset::counterpart::NoCounterpart;
use crate::dataset::redhat::EXPECTATIONS;
use crate::dataset::watsonx::{RESISTED, SIMILARITY};
use crate::dataset::{CaseUser, Dataset, DatasetCase, DatasetMetric, MeasureKind, ScenarioDriver, System, UserLine};
use crate::metric::document::trpc::{json_criterion, xml_criterion};
use crate::metric::rouge::trpc::rouge_criterion;
use crate::metric::trajectory::{ASSERTIONS, TrajectoryConfig, TrajectoryDialect, TrajectoryFigure, adk, trpc};
use crate::metric::wording::TextMatch;
use crate::metric::wording::trpc::text_criterion;
use crate::metric::{Rubric, RubricConfig};

/// A metric's key in a job, and its options.
type LoweredMetric = (&'static str, Value);

/// The entries of `metrics`; what has none gets a warning.
///
/// With `tells_difference`, each is also measured as in the other mode, strict or not, where that differs.
pub(super) fn lower(dataset: &Dataset, options: &LowerOptions, warnings: &mut super::Warnings) -> Vec<Value> {
    let (strict, tells_difference) = (options.strict, options.tells_difference);
    let (mut entries, mut unavailable) = (Vec::new(), Vec::new());
    let system = dataset.kind.system();
    for metric in &dataset.metrics {
        super::ignored::ignored(system, metric).into_iter().for_each(|what| warnings.about_file(what));
        match metric_options(system, metric, strict)
            .and_then(|found| with_subject(dataset, &metric.name, options, found))
            .and_then(|found| reported(options, found))
        {
            // What is shown anyway is no metric here.
            Ok(None) => {}
            Ok(Some((key, lowered))) => {
                // A judge would have to be asked again, and its next verdict may be another one anyway.
                let compares = tells_difference && metric.kind != MeasureKind::Judge;
                let other = metric_options(system, metric, !strict).ok().flatten().filter(|_| compares);
                let other = other.filter(|(its_key, other)| *its_key == key && *other != lowered);
                let mut entry = entry(&metric.name, metric.threshold, key, lowered);
                if let Some((key, options)) = other {
                    let name = if strict { "the default" } else { "--dialect-strict" };
                    entry["beside"] = json!({ "name": name, key: options });
                }
                entries.push(entry);
            }
            Err(why) => {
                entries.push(entry(&metric.name, metric.threshold, "unavailable", json!({ "why": why.to_string() })));
                unavailable.push((metric, why));
            }
        }
    }
    // ADK stores the final state and never compares it.
    if !strict && dataset.cases.iter().any(|case| case.expected.state.is_some()) {
        entries.push(entry("final_session_state", Some(1.0), "state", json!({})));
    }
    let has_outcome =
        |case: &DatasetCase| matches!(&case.user, CaseUser::Scenario(user) if user.expected_outcome.is_some());
    // DeepEval's simulator stops there, and none of the metrics asks whether it was reached.
    if !strict && dataset.cases.iter().any(has_outcome) {
        entries.push(entry("Expected outcome", Some(0.5), "tasks", json!({})));
    }
    let for_expectations = |rubric: &Rubric| rubric.metric.as_deref() == Some(EXPECTATIONS);
    if dataset.cases.iter().flat_map(|case| &case.rubrics).any(for_expectations) {
        let judging = super::judges::judging(1, strict);
        entries.push(entry(EXPECTATIONS, Some(1.0), "rubric", json!({ "judging": judging })));
    }
    let is_shown_only = |entry: &Value| entry.get("weight").is_some();
    let none_counts = entries.iter().all(is_shown_only);
    for (metric, why) in unavailable {
        warnings.about_metric(&metric.name, &why.to_string(), none_counts || metric.threshold.is_some());
    }
    let is_unavailable = |entry: &Value| entry.get("unavailable").is_some();
    if none_counts && system == System::Watsonx && !entries.is_empty() && !entries.iter().any(is_unavailable) {
        warnings
            .about_file("JourneySuccessMetric is not among the file's `metrics`: what is measured counts in its place");
        entries.iter_mut().filter_map(Value::as_object_mut).for_each(|entry| drop(entry.remove("weight")));
    } else if none_counts {
        // Then what can't be computed does, and is missing in every score.
        let unavailable = entries.iter_mut().filter(|entry| entry.get("unavailable").is_some());
        unavailable
            .filter_map(Value::as_object_mut)
            .for_each(|entry| drop(entry.insert("weight".to_owned(), 1.into())));
    }
    if entries.is_empty() {
        // A job needs one.
        warnings.about_file(
            "the file asks for no metric that has a score: the tool calls must be the expected ones, where some are expected",
        );
        entries.push(json!({ "trajectory": {}, "threshold": 1.0 }));
    }
    entries
}

/// A metric whose judge would be asked nothing in any case measures nothing and would say nothing: the originals refuse it or
/// leave it out, and here it is missing.
fn with_subject(
    dataset: &Dataset,
    name: &str,
    options: &LowerOptions,
    found: Option<LoweredMetric>,
) -> Result<Option<LoweredMetric>, NoCounterpart> {
    let Some((key, lowered)) = &found else { return Ok(found) };
    let is_wanting = match *key {
        _ if options.is_part => false,
        "rubric" => lowered.get("rubrics").is_none() && !has_rubrics(dataset, name, lowered),
        "finalResponse" | "pairwise" => !has_replies(dataset, options),
        _ => false,
    };
    match (is_wanting, *key) {
        (false, _) => Ok(found),
        (true, "rubric") => Err("it judges by rubrics, and neither the metric nor a case has any for it".into()),
        (true, _) => Err("it compares with expected replies, and no case has one".into()),
    }
}

/// Whether a case or a line has a rubric for the metric of this name.
fn has_rubrics(dataset: &Dataset, name: &str, lowered: &Value) -> bool {
    let Ok(config) = serde_json::from_value::<RubricConfig>(lowered.clone()) else { return true };
    let takes = |rubric: &Rubric| config.is_for(rubric, name);
    dataset.cases.iter().any(|case| {
        let of_checks = name == ASSERTIONS && !case.checks.is_empty();
        let of_lines = lines(case).iter().flat_map(|line| &line.expected.rubrics).any(takes);
        of_checks || of_lines || case.rubrics.iter().any(takes)
    })
}

/// Whether a case expects a reply of one of its turns, or a second agent will tell what is expected.
fn has_replies(dataset: &Dataset, options: &LowerOptions) -> bool {
    let is_one = |line: &UserLine| line.expected.reply.as_ref().is_some_and(|it| options.strict || !it.is_empty());
    let of_reference = |case: &DatasetCase| {
        let leads = matches!(&case.user, CaseUser::Scenario(it) if it.driver == ScenarioDriver::Expected);
        options.reference.is_some() && (case.expected_runner || leads)
    };
    dataset.cases.iter().any(|case| of_reference(case) || lines(case).iter().any(is_one))
}

fn lines(case: &DatasetCase) -> &[UserLine] {
    match &case.user {
        CaseUser::Lines(lines) => lines,
        CaseUser::Scenario(_) => &[],
    }
}

/// An entry with its name; what has no threshold informs and does not count.
fn entry(name: &str, threshold: Option<f64>, key: &str, options: Value) -> Value {
    let mut entry = Map::new();
    entry.insert(key.to_owned(), options);
    entry.insert("name".to_owned(), name.into());
    match threshold {
        Some(threshold) if key != "unavailable" => {
            drop(entry.insert("threshold".to_owned(), threshold.clamp(0.0, 1.0).into()))
        }
        Some(threshold) => {
            entry.insert("threshold".to_owned(), threshold.clamp(0.0, 1.0).into());
            entry.insert("weight".to_owned(), 0.into());
        }
        None => drop(entry.insert("weight".to_owned(), 0.into())),
    }
    Value::Object(entry)
}

/// The metric that one of another system means, with its options, or why there is none; `None` for figures.
fn metric_options(
    system: System,
    metric: &DatasetMetric,
    strict: bool,
) -> Result<Option<LoweredMetric>, NoCounterpart> {
    let criterion = Value::Object(metric.options.clone());
    let trajectory = |config: TrajectoryConfig| Ok(Some(("trajectory", value(&config)?)));
    let of_watsonx = |score: TrajectoryFigure| {
        let mut config =
            TrajectoryConfig { dialect: TrajectoryDialect::Watsonx, strict, score, ..TrajectoryConfig::default() };
        // The original reads its configuration's and compares with its own.
        let similarity = metric.options.get(SIMILARITY).and_then(Value::as_f64).filter(|_| !strict);
        config.similarity = similarity.unwrap_or(config.similarity);
        trajectory(config)
    };
    match (metric.kind, system) {
        (MeasureKind::Trajectory, System::Adk) => trajectory(adk::from_criterion(&criterion, strict)?),
        (MeasureKind::Trajectory, System::Trpc) => {
            let is_seed_era = metric.options.get("generation").and_then(Value::as_str) == Some("seed");
            trajectory(trpc::from_criterion(&criterion, is_seed_era, strict)?)
        }
        (MeasureKind::Trajectory, _) => of_watsonx(TrajectoryFigure::Recall),
        (MeasureKind::ToolParameters, System::Watsonx) => of_watsonx(TrajectoryFigure::ParameterF1),
        (MeasureKind::ToolParameters, _) => trajectory(TrajectoryConfig {
            dialect: TrajectoryDialect::Adk,
            strict,
            score: TrajectoryFigure::ParameterMatch,
            ..TrajectoryConfig::default()
        }),
        (MeasureKind::Journey, _) => of_watsonx(match metric.evaluator.as_str() {
            "JourneyCompletion" => TrajectoryFigure::JourneyCompletion,
            "TextMatch" => TrajectoryFigure::TextMatch,
            RESISTED => TrajectoryFigure::Resisted,
            _ => TrajectoryFigure::JourneySuccess,
        }),
        (MeasureKind::Routing, _) => of_watsonx(TrajectoryFigure::RoutingF1),
        (MeasureKind::ResponseMatch, _) => {
            let mut rouge = json!({ "type": "rouge1", "useStemmer": true });
            if strict {
                rouge["absentIsZero"] = true.into();
                rouge["tokenizer"] = "adk".into();
            }
            Ok(Some(("rouge", rouge)))
        }
        (MeasureKind::FinalResponse, _) => final_response(&metric.options, strict),
        (MeasureKind::Figure, _) => Ok(None),
        (MeasureKind::Judge, system) => super::judges::options(system, metric, strict).map(Some),
        (MeasureKind::VendorService, _) => Err("only the vendor's own service can compute it".into()),
        (MeasureKind::Custom, System::Watsonx) => {
            Err("it compares replies with the agent's instructions, which are in its own files".into())
        }
        (MeasureKind::Custom, _) => Err("it is a function in the system's own language, which can't run here".into()),
    }
}

/// What no agent that is asked reports is left to recordings.
fn reported(options: &LowerOptions, found: Option<LoweredMetric>) -> Result<Option<LoweredMetric>, NoCounterpart> {
    let of_recordings = found.as_ref().filter(|_| !options.is_recorded && !options.tells_trace());
    match of_recordings.and_then(|(_, lowered)| super::judges::traced_variable(lowered)) {
        Some(name) => Err(format!(
            "its variable `{name}` shows a step of a trace, which only recordings and the agent server of `trpc` have"
        )
        .into()),
        None => Ok(found),
    }
}

/// Whether a metric wants the very text that is expected, which may be an empty one.
pub(super) fn wants_same_text(dataset: &Dataset) -> bool {
    let finals = dataset.metrics.iter().filter(|metric| metric.kind == MeasureKind::FinalResponse);
    let texts = finals.filter_map(|metric| text_criterion(metric.options.get("text")?, false).ok()?);
    texts.into_iter().any(|text| text.text_match == TextMatch::Exact)
}

/// trpc-agent-go's criteria of a final response: in each turn all parts must hold.
fn final_response(options: &Map<String, Value>, strict: bool) -> Result<Option<LoweredMetric>, NoCounterpart> {
    let part = |name: &str| options.get(name).filter(|part| !part.is_null());
    // All parts must hold, and what this one finds is not known.
    if let Some(name) = part("compareName").and_then(Value::as_str).filter(|name| !name.is_empty()) {
        return Err(
            format!("compareName: the function {name:?} is part of another program and can not be called").into()
        );
    }
    let mut parts = Vec::new();
    if let Some(criterion) = part("text") {
        let text = text_criterion(criterion, strict).map_err(NoCounterpart::from_error)?;
        parts.extend(text.map(|text| value(&text)).transpose()?.map(|text| ("text", text)));
    }
    if let Some(criterion) = part("json") {
        let json = json_criterion(criterion, strict).map_err(NoCounterpart::from_error)?;
        parts.extend(json.map(|json| value(&json)).transpose()?.map(|json| ("json", json)));
    }
    if let Some(criterion) = part("rouge") {
        let rouge = rouge_criterion(criterion, strict).map_err(NoCounterpart::from_error)?;
        parts.extend(rouge.map(|rouge| value(&rouge)).transpose()?.map(|rouge| ("rouge", rouge)));
    }
    if let Some(criterion) = part("xml")
        && xml_criterion(criterion).map_err(NoCounterpart::from_error)?
    {
        parts.push(("xml", json!({})));
    }
    match parts.len() {
        0 => Err("its criterion compares nothing".into()),
        1 => Ok(parts.pop()),
        _ => Ok(Some(("reply", parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect()))),
    }
}

fn value(options: &impl Serialize) -> Result<Value, NoCounterpart> {
    serde_json::to_value(options).map_err(NoCounterpart::from_error)
}
