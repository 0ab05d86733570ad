//! What the quickstart measures: fifteen questions to a judge, with thresholds that are fixed in its code.

use crate::dataset::model::{DatasetMetric, MeasureKind};

/// The name, the threshold, and whether the judge is given the context.
const METRICS: [(&str, f64, bool); 15] = [
    ("Turn Relevancy", 0.8, false),
    ("Role Adherence", 0.5, false),
    ("Conversation Completeness", 0.8, false),
    ("Information Gathering", 0.8, false),
    ("Policy Compliance", 0.8, true),
    ("Option Presentation", 0.8, false),
    ("Process Completion", 0.8, false),
    ("User Experience", 0.8, false),
    ("Flow termination", 0.8, false),
    ("Ticket number validation", 1.0, false),
    ("Correct eligibility validation", 1.0, true),
    ("No errors reported by agent", 1.0, false),
    (RETRIED, 1.0, true),
    ("Confirmation Before Ticket Creation", 1.0, false),
    ("Return to Router After Task Completion", 1.0, false),
];

/// The one whose question is asked again where the score is below the threshold.
const RETRIED: &str = "Correct laptop options for user location";

/// All of them.
pub(in crate::dataset) fn metrics() -> Vec<DatasetMetric> {
    let metric = |(name, threshold, needs_context): &(&str, f64, bool)| {
        let mut metric = DatasetMetric::new(name, MeasureKind::Judge, Some(*threshold));
        metric.evaluator = "ConversationalGEval".to_owned();
        if *needs_context {
            metric.options.insert("context".to_owned(), true.into());
        }
        if *name == RETRIED {
            metric.options.insert("retries".to_owned(), 1.into());
        }
        metric
    };
    METRICS.iter().map(metric).collect()
}
