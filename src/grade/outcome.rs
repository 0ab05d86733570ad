//! The outcome of a conversation: graded, or lost by the agent or the judge.

use crate::evidence::{Ending, Judgement, Observed};
use crate::job::Job;
use crate::metric::{MetricEntry, MetricKind, Weights};
use crate::score::{Outcome, Weight};

/// Whether more than half of the judgements of a question have a reply.
fn has_majority(question: &str, judgements: &[Judgement]) -> bool {
    let own = || judgements.iter().filter(|judgement| judgement.question == question);
    own().filter(|judgement| matches!(judgement.reply, Observed::Seen(_))).count() * 2 > own().count()
}

/// Before the reason why a judge could not be asked.
pub const NOT_ASKED: &str = "the judge was not asked: ";

/// Whether an answer can decide anything: a metric of weight 0 without a threshold only informs.
fn decides(metrics: &[MetricEntry], weights: &Weights, question: &str) -> bool {
    let name = question.split(['-', '@']).next().unwrap_or_default();
    // Tasks and tone have one question, and goals of trajectories have those of rubrics.
    let is_of = |kind: MetricKind| match kind {
        MetricKind::Tone => name == MetricKind::Tasks.as_str(),
        MetricKind::Trajectory => true,
        kind => kind.as_str() == name,
    };
    let mut own = metrics.iter().filter(|entry| is_of(entry.kind())).peekable();
    own.peek().is_none() || own.any(|entry| entry.threshold.is_some() || entry.weight(weights) > Weight::ZERO)
}

/// The outcome of a conversation that was judged: a question without a usable reply that counts for something is the judge's failure,
/// unless most of its samples have one.
pub fn outcome(ending: &Ending, judgements: &[Judgement], job: &Job) -> Outcome {
    let is_decisive = |judgement: &Judgement| decides(&job.metrics, &job.weights, &judgement.question);
    let unusable = judgements.iter().find_map(|judgement| match &judgement.reply {
        Observed::Failed(error) if !has_majority(&judgement.question, judgements) && is_decisive(judgement) => {
            Some(error.clone())
        }
        _ => None,
    });
    match (ending, unusable) {
        // The judge has not failed.
        (_, Some(error)) if error.starts_with(NOT_ASKED) => Outcome::Broken { error },
        (_, Some(error)) => Outcome::JudgeFailed { error },
        (Ending::AgentFailed { error }, None) => Outcome::AgentFailed { error: error.clone() },
        (_, None) => Outcome::Graded,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decides_in(metrics: serde_json::Value, weights: serde_json::Value, question: &str) -> bool {
        let metrics: Vec<MetricEntry> = serde_json::from_value(metrics).unwrap();
        decides(&metrics, &serde_json::from_value(weights).unwrap(), question)
    }

    #[test]
    fn a_metric_that_counts_for_nothing_decides_nothing() {
        let rubric = json!([{"rubric": {"rubrics": [{"id": "a", "text": "It is polite."}]}}]);
        assert!(decides_in(rubric.clone(), json!({}), "rubric-0a1b2c3d"));
        assert!(!decides_in(rubric.clone(), json!({"rubric": 0}), "rubric-0a1b2c3d"));
        let mut asked = rubric;
        asked[0]["threshold"] = json!(0.5);
        assert!(decides_in(asked, json!({"rubric": 0}), "rubric-0a1b2c3d"), "it has a threshold");
        for (weights, decides) in [(json!({"tasks": 0}), false), (json!({"tasks": 0, "tone": 1}), true)] {
            assert_eq!(decides_in(json!(["tasks", "tone"]), weights, "tasks"), decides);
        }
        assert!(decides_in(json!(["tasks"]), json!({"tasks": 0}), "rubric-0a1b2c3d"), "nobody knows what it is of");
    }
}
