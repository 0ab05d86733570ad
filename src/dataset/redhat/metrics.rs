//! The quickstart's metrics: questions to a judge, with thresholds that are fixed in its code.

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

/// The generations of the quickstart's metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MetricSet {
    /// The fifteen of today, each a question of one kind.
    #[default]
    Quickstart15,
    /// The thirteen of 2025: three of DeepEval's own, and ten questions.
    Quickstart13,
}

/// Those of DeepEval's own that the older generation begins with.
const BUILT_IN: [(&str, &str); 3] = [
    ("Turn Relevancy", "TurnRelevancyMetric"),
    ("Role Adherence", "RoleAdherenceMetric"),
    ("Conversation Completeness", "ConversationCompletenessMetric"),
];

/// Those that the older generation lacks.
const LATER: [&str; 2] = ["Confirmation Before Ticket Creation", "Return to Router After Task Completion"];

/// The metrics of a generation.
pub(in crate::dataset) fn metrics(set: MetricSet) -> Vec<DatasetMetric> {
    let is_old = set == MetricSet::Quickstart13;
    let metric = |(name, threshold, needs_context): &(&str, f64, bool)| {
        let mut metric = DatasetMetric::new(name, MeasureKind::Judge, Some(*threshold));
        let built_in = BUILT_IN.iter().find(|(known, _)| is_old && known == name);
        metric.evaluator = built_in.map_or("ConversationalGEval", |(_, class)| *class).to_owned();
        if *needs_context {
            metric.options.insert("context".to_owned(), true.into());
        }
        if *name == RETRIED {
            metric.options.insert("retries".to_owned(), 1.into());
        }
        metric
    };
    METRICS.iter().filter(|(name, ..)| !is_old || !LATER.contains(name)).map(metric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_generation_has_three_metrics_of_deepevals_own() {
        let old = metrics(MetricSet::Quickstart13);
        let built_in = old.iter().filter(|metric| metric.evaluator != "ConversationalGEval").count();
        assert_eq!((old.len(), built_in), (13, 3));
        let new = metrics(MetricSet::default());
        assert!(new.len() == 15 && new.iter().all(|metric| metric.evaluator == "ConversationalGEval"));
    }
}
