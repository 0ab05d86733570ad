//! The criteria of a `test_config.json`: a metric's name and its threshold, alone or with options.

use serde_json::{Map, Value};

use super::KEYS;
use super::rubric::read_rubrics;
use crate::dataset::cursor::{Cursor, Fields, UnknownKeys};
use crate::dataset::json::JsonContent;
use crate::dataset::model::{DatasetMetric, MeasureKind};

/// The metrics that come with ADK.
pub(super) const METRICS: [(&str, MeasureKind); 18] = [
    ("tool_trajectory_avg_score", MeasureKind::Trajectory),
    ("tool_parameter_match", MeasureKind::ToolParameters),
    ("response_match_score", MeasureKind::ResponseMatch),
    ("final_response_match_v2", MeasureKind::Judge),
    ("rubric_based_final_response_quality_v1", MeasureKind::Judge),
    ("rubric_based_tool_use_quality_v1", MeasureKind::Judge),
    ("rubric_based_multi_turn_trajectory_quality_v1", MeasureKind::Judge),
    ("hallucinations_v1", MeasureKind::Judge),
    ("per_turn_user_simulator_quality_v1", MeasureKind::Judge),
    ("response_evaluation_score", MeasureKind::VendorService),
    ("safety_v1", MeasureKind::VendorService),
    ("multi_turn_task_success_v1", MeasureKind::VendorService),
    ("multi_turn_trajectory_quality_v1", MeasureKind::VendorService),
    ("multi_turn_tool_use_quality_v1", MeasureKind::VendorService),
    ("tool_call_count_v1", MeasureKind::Figure),
    ("inference_call_count_v1", MeasureKind::Figure),
    ("token_usage_v1", MeasureKind::Figure),
    ("invocation_duration_v1", MeasureKind::Figure),
];

/// ADK's metrics where no configuration says otherwise.
pub(super) fn default_metrics() -> Vec<DatasetMetric> {
    let metrics = [
        DatasetMetric::new("tool_trajectory_avg_score", MeasureKind::Trajectory, Some(1.0)),
        DatasetMetric::new("response_match_score", MeasureKind::ResponseMatch, Some(0.8)),
    ];
    metrics.into_iter().chain(figures()).collect()
}

/// The figures that ADK adds to every run.
pub(super) fn figures() -> impl Iterator<Item = DatasetMetric> {
    let figures = METRICS.iter().filter(|(_, kind)| *kind == MeasureKind::Figure);
    figures.map(|(name, kind)| DatasetMetric::new(name, *kind, None))
}

/// Reads one criterion of this metric.
pub(super) fn read_criterion(name: &str, kind: MeasureKind, value: Cursor<'_>) -> Option<DatasetMetric> {
    let mut metric = DatasetMetric::new(name, kind, None);
    if kind == MeasureKind::Figure {
        value.error_with(
            format!("`{name}` is a figure that ADK reports in every run; it has no threshold"),
            "leave it out of the criteria",
        );
        return None;
    }
    if !matches!(value.node.content, JsonContent::Object(_)) {
        metric.threshold = Some(threshold(name, kind, value)?);
        return Some(metric);
    }
    let mut fields = value.fields(KEYS)?;
    metric.threshold = fields.required("threshold").and_then(|value| threshold(name, kind, value));
    let options = &mut metric.options;
    flag(&mut fields, "include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal", options);
    match kind {
        MeasureKind::Trajectory => {
            if let Some(match_type) = fields.get("match_type").and_then(read_match_type) {
                options.insert("matchType".to_owned(), match_type.into());
            }
            flag(&mut fields, "ignore_args", "ignoreArgs", options);
        }
        MeasureKind::Judge | MeasureKind::VendorService | MeasureKind::Custom => {
            if let Some(judge) = fields.get("judge_model_options").and_then(read_judge) {
                options.insert("judgeModelOptions".to_owned(), judge);
            }
            flag(&mut fields, "evaluate_intermediate_nl_responses", "evaluateIntermediateNlResponses", options);
            if let Some(signal) = fields.text("stop_signal") {
                options.insert("stopSignal".to_owned(), signal.into());
            }
            metric.rubrics = read_rubrics(fields.items("rubrics"));
        }
        _ => {}
    }
    metric.extra = fields.rest(UnknownKeys::Kept);
    Some(metric)
}

fn flag(fields: &mut Fields<'_>, name: &'static str, option: &str, options: &mut Map<String, Value>) {
    if let Some(truth) = fields.flag(name) {
        options.insert(option.to_owned(), truth.into());
    }
}

fn threshold(name: &str, kind: MeasureKind, value: Cursor<'_>) -> Option<f64> {
    let threshold = value.number()?;
    // Google's coherence is a grade from 1 to 5.
    let most = if name == "response_evaluation_score" { 5.0 } else { 1.0 };
    if threshold > most && kind != MeasureKind::Custom {
        value.error_with(
            format!("`{name}` never reaches {threshold}: its scores lie between 0 and {most}"),
            "80 percent is 0.8",
        );
    } else if !(0.0..=most).contains(&threshold) {
        value.warn(format!("the scores of `{name}` lie between 0 and {most}: this threshold decides nothing"));
    }
    Some(threshold)
}

/// `EXACT`, `IN_ORDER` or `ANY_ORDER`, in any case, with blanks, hyphens or underscores, or its number.
fn read_match_type(value: Cursor<'_>) -> Option<&'static str> {
    const TYPES: [&str; 3] = ["EXACT", "IN_ORDER", "ANY_ORDER"];
    let found = match &value.node.content {
        JsonContent::Number(number) => number.as_u64().and_then(|index| TYPES.get(usize::try_from(index).ok()?)),
        JsonContent::Text(text) => {
            let plain = text.trim().to_ascii_uppercase().replace([' ', '-'], "_");
            TYPES.iter().find(|name| **name == plain)
        }
        _ => None,
    };
    if found.is_none() {
        value.error_with("this is no match type", "EXACT (0), IN_ORDER (1) or ANY_ORDER (2)");
    }
    found.copied()
}

fn read_judge(value: Cursor<'_>) -> Option<Value> {
    let mut fields = value.fields(KEYS)?;
    let mut options = Map::new();
    if let Some(model) = fields.text("judge_model") {
        options.insert("judgeModel".to_owned(), model.into());
    }
    if let Some(config) = fields.get("judge_model_config") {
        options.insert("judgeModelConfig".to_owned(), config.json());
    }
    for (name, option) in [("num_samples", "numSamples"), ("parallelism_limit", "parallelismLimit")] {
        let Some(value) = fields.get(name) else { continue };
        let Some(count) = value.count() else { continue };
        if count == 0 {
            value.error(format!("`{name}` must be at least 1"));
        }
        options.insert(option.to_owned(), count.into());
    }
    options.extend(fields.rest(UnknownKeys::Kept));
    Some(Value::Object(options))
}
