//! The figures of a run of a case, by the names that the framework gives them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::result::{CaseResult, Status};
use crate::evidence::CallFinding;

/// The figures that the framework's tools read; `None` where unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) total_steps: usize,
    pub(super) llm_steps: usize,
    pub(super) total_tool_calls: usize,
    expected: usize,
    correct: usize,
    relevant: usize,
    incorrect: usize,
    missed: usize,
    pub(super) recall: Option<f64>,
    pub(super) precision: Option<f64>,
    pub(super) routing: Option<f64>,
    pub(super) text_match: Option<f64>,
    pub(super) success: Option<bool>,
    pub(super) completion: Option<f64>,
    pub(super) response_seconds: Option<f64>,
}

/// Two decimals, as the framework rounds.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

impl Figures {
    /// The figures of a trial of so many messages.
    pub(super) fn new(result: &CaseResult<'_>, total_steps: usize) -> Figures {
        let review = result.review;
        let count = |is: fn(&CallFinding) -> bool| review.made.iter().filter(|call| is(&call.finding)).count();
        let wanted = review.turns.iter().filter_map(|turn| turn.calls.as_ref()).chain(&review.calls).flatten();
        let tools: BTreeSet<&str> = wanted.map(|call| call.tool.as_str()).collect();
        let relevant: Vec<&str> =
            review.made.iter().map(|made| made.call.tool.as_str()).filter(|tool| tools.contains(tool)).collect();
        let (expected, made) = (review.expected, review.made.len());
        let correct = count(|finding| *finding == CallFinding::AsExpected);
        let part = |of: usize| (of > 0).then(|| rounded(correct as f64 / of as f64));
        let dimension = |name: &str| {
            let found = result.metrics.iter().find(|metric| metric.name == name)?;
            found.score.map(|score| score.get())
        };
        let evaluated = result.status != Status::NotEvaluated;
        let recall = part(expected).filter(|_| evaluated);
        let precision = (expected > 0).then(|| part(made).unwrap_or(0.0)).filter(|_| evaluated);
        let transcript = result.trial.evidence.as_ref().map(|evidence| &evidence.transcript);
        let latency = transcript.and_then(|transcript| transcript.average_latency_ms());
        Figures {
            total_steps,
            llm_steps: result.turns.iter().filter(|turn| turn.turn.agent.is_some()).count() + made,
            total_tool_calls: made,
            expected,
            correct,
            relevant: relevant.len(),
            // Once a goal is met, another call of its tool meets none.
            incorrect: relevant.len().saturating_sub(correct),
            missed: tools.iter().filter(|tool| !relevant.contains(tool)).count(),
            recall,
            precision,
            routing: dimension("OrchestrateAgentRoutingAccuracy"),
            text_match: dimension("TextMatch"),
            success: evaluated.then_some(match dimension("JourneySuccessMetric") {
                Some(score) => score >= 1.0 && result.status == Status::Passed,
                None => result.status == Status::Passed,
            }),
            completion: dimension("JourneyCompletion").map(rounded).or(recall),
            response_seconds: latency.map(|latency| rounded(latency / 1000.0)),
        }
    }

    /// All of them, by their names of now and of earlier versions, with the scores of all metrics.
    pub(super) fn into_map(self, result: &CaseResult<'_>) -> Map<String, Value> {
        let mut map = Map::new();
        let mut add = |name: &str, value: Option<Value>| map.extend(value.map(|value| (name.to_owned(), value)));
        // Without expectations nothing is right or wrong.
        let judged = |number: usize| (self.expected > 0).then(|| number.into());
        add("run_idx", Some(result.trial.trial.repeat.into()));
        add("dataset_name", Some(result.name.file.as_str().into()));
        add("is_success", self.success.map(Value::from));
        add("journey_completion", self.completion.map(Value::from));
        add("total_tool_calls", Some(self.total_tool_calls.into()));
        add("expected_tool_calls", Some(self.expected.into()));
        add("correct_tool_calls", judged(self.correct));
        add("relevant_tool_calls", Some(self.relevant.into()));
        add("missed_tool_calls", judged(self.missed));
        add("tool_calls_with_incorrect_parameter", judged(self.incorrect));
        add("tool_call_recall", self.recall.map(Value::from));
        add("tool_call_precision", self.precision.map(Value::from));
        add("orchestrate_agent_routing_accuracy", self.routing.map(Value::from));
        add("total_steps", Some(self.total_steps.into()));
        add("llm_steps", Some(self.llm_steps.into()));
        add("llm_step", Some(self.llm_steps.into()));
        add("average_agent_response_time", self.response_seconds.map(Value::from));
        add("avg_resp_time", self.response_seconds.map(Value::from));
        add("text_match", self.text_match.map(|text| u8::from(text >= 1.0).into()));
        for metric in &result.metrics {
            add(metric.name, metric.score.map(|score| score.get().into()));
        }
        add("is_error", Some(u8::from(result.status == Status::NotEvaluated).into()));
        add("is_success_comment", result.error.as_deref().map(Value::from));
        map
    }
}

/// Whether an average of it says something.
pub(super) fn is_column(name: &str) -> bool {
    !matches!(name, "run_idx" | "dataset_name" | "is_success_comment" | "llm_step" | "avg_resp_time")
}
