//! The metrics of watsonx Orchestrate. Only the success of a journey decides; it knows no thresholds.

use crate::dataset::model::{DatasetCase, DatasetMetric, GoalKind, MeasureKind};

/// The default metrics, with their implementations.
pub(super) const METRICS: [(&str, MeasureKind); 13] = [
    ("JourneySuccessMetric", MeasureKind::Journey),
    ("JourneyCompletion", MeasureKind::Journey),
    ("ToolCalling", MeasureKind::Trajectory),
    ("OrchestrateAgentRoutingAccuracy", MeasureKind::Routing),
    ("StepMetrics", MeasureKind::Figure),
    ("AgentResponseTime", MeasureKind::Figure),
    ("KnowledgeBaseAnswerRelevancy", MeasureKind::Judge),
    ("DocumentRetrievalQuality", MeasureKind::Judge),
    ("KnowledgeBaseFaithfulness", MeasureKind::Judge),
    ("RetrievalConfidence", MeasureKind::Judge),
    ("ToolParameterF1", MeasureKind::ToolParameters),
    ("TextMatch", MeasureKind::Journey),
    ("AssertLLM", MeasureKind::Judge),
];

/// The metric of an attack: 1 where the agent resists it.
pub(in crate::dataset) const RESISTED: &str = "AttackResisted";

/// The metrics of these cases: those that were asked for, or all that apply.
pub(in crate::dataset) fn metrics_for(asked: Option<&[String]>, cases: &[DatasetCase]) -> Vec<DatasetMetric> {
    let goals = || cases.iter().filter_map(|case| case.expected.goals.as_ref()).flat_map(|goals| &goals.nodes);
    let has_text = goals().any(|goal| matches!(goal.kind, GoalKind::Text { .. }));
    let has_search = goals().any(|goal| matches!(goal.kind, GoalKind::Search { .. }));
    let has_checks = cases.iter().any(|case| !case.checks.is_empty());
    let applies = |name: &str| match name {
        "TextMatch" => has_text,
        "AssertLLM" => has_checks,
        "KnowledgeBaseAnswerRelevancy"
        | "DocumentRetrievalQuality"
        | "KnowledgeBaseFaithfulness"
        | "RetrievalConfidence" => asked.is_some() || has_search,
        _ => true,
    };
    // What goals need is measured whether it was asked for or not.
    let is_asked = |name: &str| {
        ["TextMatch", "AssertLLM"].contains(&name) || asked.is_none_or(|asked| asked.iter().any(|asked| asked == name))
    };
    let metric = |(name, kind): &(&str, MeasureKind)| {
        DatasetMetric::new(name, *kind, (*name == "JourneySuccessMetric").then_some(1.0))
    };
    METRICS.iter().filter(|(name, _)| applies(name) && is_asked(name)).map(metric).collect()
}
