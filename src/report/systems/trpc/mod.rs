//! `*.evalset_result.json` of trpc-agent-go: one entry for each case and run, and a summary. Like its own writer it leaves
//! out what is 0 or empty.

mod summary;

use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::result::{CaseResult, MetricResult, Status, TurnResult, epoch};
use super::{ResultNames, job_names, result_id, results};
use crate::evidence::{ExpectationReview, ToolUse, TurnExpectation};
use crate::record::{DocumentError, Sequence, write_streamed};
use crate::report::WrittenRun;
use summary::TrpcSummary;

/// Writes the results of these runs, while their trials are being read: once for the summary, once for the results.
pub(in crate::report) fn write<E>(runs: &[WrittenRun<'_, E>], to: impl Write) -> Result<(), DocumentError<E>> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct File<T: Serialize> {
        eval_set_result_id: String,
        eval_set_result_name: String,
        eval_set_id: String,
        summary: Value,
        creation_timestamp: f64,
        eval_case_results: T,
    }
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let mut summary = TrpcSummary::default();
    let nothing = ExpectationReview::default();
    for run in runs {
        for trial in (run.trials)() {
            let trial = trial.map_err(DocumentError::Read)?;
            summary.add(&CaseResult::new(run.overview, &trial, &nothing, &names));
        }
        let summary_of_run = &run.overview.summary;
        let took = summary_of_run.took().unwrap_or_default();
        summary.nanoseconds += i64::try_from(took.as_nanos()).unwrap_or_default();
    }
    let cases = results(runs, &names, case);
    let id = result_id(runs);
    write_streamed(cases, to, |cases| File {
        eval_set_result_id: id.clone(),
        eval_set_result_name: id,
        eval_set_id: job_names(runs).join("+"),
        summary: summary.into_json(),
        creation_timestamp: runs.first().map_or(0.0, |run| epoch(run.overview.summary.started_at)),
        eval_case_results: Sequence::new(cases),
    })
}

/// The words of `EvalStatus`. A metric without a threshold has the threshold 0 there, which every score passes.
fn label(status: Status) -> &'static str {
    match status {
        Status::Passed | Status::Informs => "passed",
        Status::Failed => "failed",
        Status::NotEvaluated => "not_evaluated",
    }
}

/// An object without its entries that are null, 0, empty texts, lists or objects: as `omitempty` writes it.
fn without_empty(value: Value) -> Value {
    let Value::Object(map) = value else { return value };
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(truth) => !truth,
    };
    Value::Object(map.into_iter().filter(|(_, value)| !is_empty(value)).collect())
}

fn case(set: &str, result: &CaseResult<'_>) -> Value {
    let turn = |turn: &TurnResult<'_>| {
        without_empty(json!({
            "actualInvocation": actual(turn),
            "expectedInvocation": turn.expected.map(expected),
            "evalMetricResults": turn.metrics.iter().map(metric).collect::<Vec<_>>(),
        }))
    };
    without_empty(json!({
        "evalSetId": set,
        "evalId": result.name.id,
        "runId": result.trial.trial.repeat,
        "score": f64::from(u8::from(result.status == Status::Passed)),
        "finalEvalStatus": label(result.status),
        "errorMessage": result.error,
        "overallEvalMetricResults": result.metrics.iter().map(metric).collect::<Vec<_>>(),
        "evalMetricResultPerInvocation": result.turns.iter().map(turn).collect::<Vec<_>>(),
        "sessionId": result.session(),
        "userId": result.user(),
    }))
}

fn metric(result: &MetricResult<'_>) -> Value {
    let score = result.score.map(|score| score.get());
    let rubric = |item: &&crate::score::Item| {
        let score = item.component.score().map(|score| score.get());
        without_empty(json!({ "id": item.label, "reason": item.component.why(), "score": score }))
    };
    let details = without_empty(json!({
        "reason": result.why,
        "score": score,
        "value": score.map(|score| json!({ "kind": "numeric", "numeric": score })),
        "rubricScores": result.items.iter().map(rubric).collect::<Vec<_>>(),
    }));
    without_empty(json!({
        "metricName": result.name,
        "score": score,
        "evalStatus": label(result.status),
        "threshold": result.threshold.map(|threshold| threshold.get()),
        "details": details,
    }))
}

fn message(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn tools(uses: &[ToolUse]) -> Vec<Value> {
    let tool = |call: &ToolUse| {
        let mut tool = Map::new();
        tool.extend(call.id.as_ref().map(|id| ("id".to_owned(), Value::from(id.as_str()))));
        tool.insert("name".to_owned(), call.tool.as_str().into());
        tool.insert("arguments".to_owned(), Value::clone(&call.args));
        tool.extend(call.result.as_deref().map(|result| ("result".to_owned(), result.clone())));
        Value::Object(tool)
    };
    uses.iter().map(tool).collect()
}

fn actual(result: &TurnResult<'_>) -> Value {
    let turn = &result.turn;
    let said = turn.events.iter().filter_map(|event| Some(message("assistant", event.intermediate_text()?)));
    without_empty(json!({
        "invocationId": format!("turn-{}", turn.number),
        "userContent": message("user", &turn.user),
        "finalResponse": turn.agent.as_deref().map(|text| message("assistant", text)),
        "tools": tools(&result.calls),
        "intermediateResponses": said.collect::<Vec<Value>>(),
    }))
}

fn expected(turn: &TurnExpectation) -> Value {
    without_empty(json!({
        "invocationId": format!("turn-{}", turn.turn),
        "userContent": message("user", &turn.say),
        "finalResponse": turn.reply.as_deref().map(|text| message("assistant", text)),
        "tools": tools(turn.calls.as_deref().unwrap_or_default()),
    }))
}
