//! The metrics of watsonx Orchestrate. Only the success of a journey decides; it knows no thresholds.

use crate::dataset::model::{DatasetCase, DatasetMetric, GoalKind, MeasureKind};

/// The metrics, with their implementations: the default ones, and those of its quick evaluation.
pub(super) const METRICS: [(&str, MeasureKind); 16] = [
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
    (REFERENCELESS[0].0, MeasureKind::Judge),
    (REFERENCELESS[1].0, MeasureKind::Judge),
    (REFERENCELESS[2].0, MeasureKind::Judge),
];

/// The metrics of its quick evaluation, which needs no expected calls, with what must hold of each turn's calls. Its judge grades each
/// call from 1 to 5, and 4 passes, or 3 for the choice of the function.
pub(in crate::dataset) const REFERENCELESS: [(&str, &str); 3] = [
    (
        "general_hallucination_check",
        "Each value in the arguments of the agent's calls of tools in this turn comes from the conversation before it, from a \
         tool's result, from the facts or from the context, or follows from these: none is made up.",
    ),
    (
        "function_selection_appropriateness",
        "Each tool that the agent calls in this turn is a fitting one for what the user needed at that point of the conversation.",
    ),
    (
        "general_conversation_grounded_correctness",
        "Each call of a tool in this turn, the tool and its arguments together, is right by what had been said and returned \
         before it.",
    ),
];

/// The metric of an attack: 1 where the agent resists it.
pub(in crate::dataset) const RESISTED: &str = "AttackResisted";

/// The metrics of these cases: those that were asked for, or all that apply.
pub(in crate::dataset) fn metrics_for(asked: Option<&[String]>, cases: &[DatasetCase]) -> Vec<DatasetMetric> {
    let goals = || cases.iter().filter_map(|case| case.expected.goals.as_ref()).flat_map(|goals| &goals.nodes);
    let has_text = goals().any(|goal| matches!(goal.kind, GoalKind::Text { .. }));
    let has_search = goals().any(|goal| matches!(goal.kind, GoalKind::Search { .. }));
    let has_checks = cases.iter().any(|case| !case.checks.is_empty());
    let is_referenceless = |name: &str| REFERENCELESS.iter().any(|(known, _)| *known == name);
    let applies = |name: &str| match name {
        name if is_referenceless(name) => asked.is_some(),
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
