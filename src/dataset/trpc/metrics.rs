//! Metrics files.

use serde_json::{Map, Value};

use super::criteria::{read_final_response, read_trajectory};
use super::judge::read_judge;
use super::{Generation, KEYS, UNKNOWN};
use crate::dataset::cursor::Cursor;
use crate::dataset::model::{DatasetMetric, MeasureKind};
use crate::text::nearest;

/// The evaluators that come with trpc-agent-go.
const EVALUATORS: [(&str, MeasureKind); 10] = [
    ("tool_trajectory_avg_score", MeasureKind::Trajectory),
    ("final_response_avg_score", MeasureKind::FinalResponse),
    ("llm_final_response", MeasureKind::Judge),
    ("llm_rubric_response", MeasureKind::Judge),
    ("llm_rubric_critic", MeasureKind::Judge),
    ("llm_rubric_reference_critic", MeasureKind::Judge),
    ("llm_rubric_knowledge_recall", MeasureKind::Judge),
    ("llm_hallucinations", MeasureKind::Judge),
    ("llm_judge_template", MeasureKind::Judge),
    ("llm_verifier_pairwise", MeasureKind::Judge),
];

/// Reads a metrics file. Where a criterion does not tell its generation, it is the eval set's.
pub(in crate::dataset) fn read_metrics(value: Cursor<'_>, file: &str, of_set: Generation) -> Vec<DatasetMetric> {
    let mut metrics: Vec<DatasetMetric> = Vec::new();
    let items = value.items();
    if items.is_empty() {
        value.warn("this file has no metrics: nothing is measured");
    }
    for item in items {
        let Some(mut metric) = read_metric(item, of_set) else { continue };
        if metrics.iter().any(|former| former.name == metric.name) {
            item.warn(format!("a metric `{}` is here already: trpc-agent-go uses the first one", metric.name));
            continue;
        }
        metric.place = Some((file.to_owned(), item.line()));
        metrics.push(metric);
    }
    metrics
}

fn read_metric(value: Cursor<'_>, of_set: Generation) -> Option<DatasetMetric> {
    let mut fields = value.fields(KEYS)?;
    let name = fields.required("metricName").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let evaluator = fields.get("evaluatorName");
    let evaluator_name = evaluator.and_then(Cursor::text).filter(|name| !name.is_empty()).unwrap_or(&name).to_owned();
    let known = EVALUATORS.iter().find(|(known, _)| *known == evaluator_name).map(|(_, kind)| *kind);
    let mut metric = DatasetMetric::new(&name, known.unwrap_or(MeasureKind::Custom), None);
    if known.is_none() {
        let near = nearest(&evaluator_name, EVALUATORS.iter().map(|(known, _)| *known));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        evaluator.unwrap_or(value).warn(format!(
            "`{evaluator_name}` is no evaluator of trpc-agent-go's own but a Go function: eval-job cannot compute it{near}"
        ));
    }
    metric.evaluator = evaluator_name;
    metric.threshold = match fields.get("threshold") {
        Some(threshold) => threshold.number().inspect(|number| {
            if *number > 1.0 && known.is_some() {
                let message = format!("no score reaches {number}: scores lie between 0 and 1");
                threshold.error_with(message, "80 percent is 0.8");
            } else if !(0.0..=1.0).contains(number) || *number == 0.0 {
                threshold.warn("scores lie between 0 and 1: this threshold decides nothing");
            }
        }),
        None => {
            let help = "say which score passes, such as `\"threshold\": 1`";
            value.error_with("`threshold` is missing; trpc-agent-go takes 0 then, which every score passes", help);
            None
        }
    };
    if let Some(criterion) = fields.get("criterion") {
        read_criterion(criterion, &mut metric, of_set);
    }
    if metric.kind == MeasureKind::Trajectory && metric.options.is_empty() {
        metric.options = default_trajectory(of_set);
    }
    if metric.kind == MeasureKind::FinalResponse && metric.options.is_empty() {
        value.error("`criterion.finalResponse` is missing: there is nothing that a reply could be compared by");
    }
    if let Some(extension) = fields.get("extension") {
        metric.extra.insert("extension".to_owned(), extension.json());
    }
    metric.extra.extend(fields.rest(UNKNOWN));
    Some(metric)
}

/// Without a criterion names, arguments and results are compared.
fn default_trajectory(generation: Generation) -> Map<String, Value> {
    let mut options = Map::new();
    options.insert("orderSensitive".to_owned(), (generation == Generation::Seed).into());
    options.insert("generation".to_owned(), generation.as_str().into());
    options
}

fn read_criterion(value: Cursor<'_>, metric: &mut DatasetMetric, of_set: Generation) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    let kinds = [
        ("toolTrajectory", MeasureKind::Trajectory),
        ("finalResponse", MeasureKind::FinalResponse),
        ("llmJudge", MeasureKind::Judge),
    ];
    for (name, kind) in kinds {
        let Some(criterion) = fields.get(name) else { continue };
        if metric.kind != kind && metric.kind != MeasureKind::Custom {
            criterion.warn(format!("`{}` does not look at this criterion", metric.evaluator));
            metric.extra.insert(name.to_owned(), criterion.json());
            continue;
        }
        match kind {
            MeasureKind::Trajectory => metric.options.extend(read_trajectory(criterion, of_set)),
            MeasureKind::FinalResponse => metric.options.extend(read_final_response(criterion)),
            _ => {
                let (options, rubrics) = read_judge(criterion);
                metric.options.extend(options);
                metric.rubrics = rubrics;
            }
        }
    }
    metric.extra.extend(fields.rest(UNKNOWN));
}
