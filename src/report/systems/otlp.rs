//! Spans of OpenTelemetry's conventions for generative AI (1.41), as OTLP's JSON: a trace a conversation, with what was
//! measured as events `gen_ai.evaluation.result`.
//!
//! ```text
//! invoke_workflow CASE        the conversation, with all its messages and the figures of the whole
//!   invoke_agent AGENT        a turn, with its messages, tokens and figures
//!     execute_tool TOOL       a call
//! ```
//! A record knows when a conversation began and how long each turn took: the turns lie one behind the other.

use std::io::Write;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ResultNames;
use super::result::{CaseResult, MetricResult, Status, TurnResult, call_id};
use crate::evidence::{ExpectationReview, ToolUse};
use crate::record::{DocumentError, RunSummary, Sequence, write_streamed};
use crate::report::WrittenRun;

const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.1";

/// OTLP's numbers of a span's kind and of its status.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// Writes the spans of these runs, while their trials are being read.
pub(in crate::report) fn write<E>(runs: &[WrittenRun<'_, E>], to: impl Write) -> Result<(), DocumentError<E>> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct File<T: Serialize> {
        resource_spans: [Resource<T>; 1],
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Resource<T: Serialize> {
        resource: Value,
        scope_spans: [Scope<T>; 1],
        schema_url: &'static str,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Scope<T: Serialize> {
        scope: Value,
        spans: T,
        schema_url: &'static str,
    }
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let nothing = ExpectationReview::default();
    let spans = runs.iter().flat_map(|run| {
        let (names, nothing) = (&names, &nothing);
        (run.trials)().map(move |trial| {
            trial.map(|trial| spans(&run.overview.summary, &CaseResult::new(run.overview, &trial, nothing, names)))
        })
    });
    let version = runs.first().map_or("", |run| run.overview.summary.provenance.tool_version.as_str());
    write_streamed(spans, to, |spans| File {
        resource_spans: [Resource {
            resource: json!({ "attributes": attributes([("service.name", Some("eval-job".into()))]) }),
            scope_spans: [Scope {
                scope: json!({ "name": "eval-job", "version": version }),
                spans: Sequence::new(spans.flatten()),
                schema_url: SCHEMA,
            }],
            schema_url: SCHEMA,
        }],
    })
}

/// A value as OTLP's AnyValue.
fn any(value: Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(truth) => json!({ "boolValue": truth }),
        Value::Number(number) if !number.is_f64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        // Structured values are JSON texts on spans.
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Attributes; those without a value are left out.
fn attributes<'a>(of: impl IntoIterator<Item = (&'a str, Option<Value>)>) -> Vec<Value> {
    let attribute = |(key, value): (&str, Option<Value>)| Some(json!({ "key": key, "value": any(value?) }));
    of.into_iter().filter_map(attribute).collect()
}

/// A trace, of which spans are made.
struct OtlpTrace {
    id: String,
    conversation: String,
    agent: String,
    model: String,
    next: u32,
}

/// One span, before it is written.
struct OtlpSpan {
    name: String,
    kind: u8,
    parent: Option<String>,
    from: i64,
    to: i64,
    attributes: Vec<(&'static str, Option<Value>)>,
    events: Vec<Value>,
    error: Option<String>,
}

/// Hexadecimal digits of a digest, which are the same each time a run is written.
fn hex(of: &str, bytes: usize) -> String {
    Sha256::digest(of.as_bytes()).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

impl OtlpTrace {
    fn write(&mut self, span: OtlpSpan) -> (String, Value) {
        self.next += 1;
        let id = hex(&format!("{} {}", self.id, self.next), 8);
        let own = [
            ("gen_ai.conversation.id", Some(self.conversation.as_str().into())),
            ("gen_ai.agent.name", Some(self.agent.as_str().into())),
        ];
        let error = span.error.as_ref().map(|_| ("error.type", Some(Value::from("_OTHER"))));
        let mut value = json!({
            "traceId": self.id,
            "spanId": id,
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": span.from.to_string(),
            "endTimeUnixNano": span.to.max(span.from).to_string(),
            "attributes": attributes(span.attributes.into_iter().chain(own).chain(error)),
            "events": span.events,
        });
        if let Some(parent) = span.parent {
            value["parentSpanId"] = parent.into();
        }
        if let Some(error) = span.error {
            value["status"] = json!({ "code": ERROR, "message": error });
        }
        (id, value)
    }
}

fn text_message(role: &str, text: &str) -> Value {
    json!({ "role": role, "parts": [{ "type": "text", "content": text }] })
}

fn reply(text: &str) -> Value {
    json!({ "role": "assistant", "parts": [{ "type": "text", "content": text }], "finish_reason": "stop" })
}

/// The messages and calls of a turn, without its reply.
fn messages(turn: &TurnResult<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !turn.turn.is_greeting() {
        messages.push(text_message("user", &turn.turn.user));
    }
    for (place, call) in turn.calls.iter().enumerate() {
        let id = call_id(call, turn.turn.number, place);
        let part = json!({ "type": "tool_call", "id": id, "name": call.tool, "arguments": call.args });
        messages.push(json!({ "role": "assistant", "parts": [part] }));
        if let Some(result) = &call.result {
            let part = json!({ "type": "tool_call_response", "id": id, "response": result });
            messages.push(json!({ "role": "tool", "parts": [part] }));
        }
    }
    messages
}

/// A measurement, as an event of the span that it was measured on.
fn evaluation(metric: &MetricResult<'_>, at: i64) -> Value {
    let label = match metric.status {
        Status::Passed => Some("passed"),
        Status::Failed => Some("failed"),
        Status::NotEvaluated => Some("not evaluated"),
        Status::Informs => None,
    };
    let error = (metric.status == Status::NotEvaluated).then(|| Value::from("_OTHER"));
    json!({
        "timeUnixNano": at.to_string(),
        "name": "gen_ai.evaluation.result",
        "attributes": attributes([
            ("gen_ai.evaluation.name", Some(metric.name.into())),
            ("gen_ai.evaluation.score.value", metric.score.map(|score| score.get().into())),
            ("gen_ai.evaluation.score.label", label.map(Value::from)),
            ("gen_ai.evaluation.explanation", Some(metric.why.as_str().into()).filter(|_| !metric.why.is_empty())),
            ("error.type", error),
        ]),
    })
}

fn nanoseconds(milliseconds: f64) -> i64 {
    (milliseconds.max(0.0) * 1e6) as i64
}

fn spans(run: &RunSummary, result: &CaseResult<'_>) -> Vec<Value> {
    let trial = result.trial;
    let key = format!("{} {}", run.id, trial.trial.key());
    let conversation = if result.session().is_empty() { key.clone() } else { result.session().to_owned() };
    let (agent, model) = (run.provenance.agent.clone(), trial.trial.model.clone());
    let mut trace = OtlpTrace { id: hex(&key, 16), conversation, agent, model, next: 0 };
    let from = trial.started_at.unwrap_or(run.started_at).timestamp_nanos_opt().unwrap_or_default();
    let length = result.turns.iter().fold(0_i64, |length, turn| length.saturating_add(spent(turn)));
    let to = trial.finished_at.and_then(|at| at.timestamp_nanos_opt()).unwrap_or(from).max(from.saturating_add(length));
    let mut history: Vec<Value> = Vec::new();
    for turn in &result.turns {
        history.extend(messages(turn));
        history.extend(turn.turn.agent.as_deref().map(reply));
    }
    let last = history.pop_if(|message| message.get("finish_reason").is_some());
    let (id, root) = trace.write(OtlpSpan {
        name: format!("invoke_workflow {}", result.name.id),
        kind: INTERNAL,
        parent: None,
        from,
        to,
        attributes: vec![
            ("gen_ai.operation.name", Some("invoke_workflow".into())),
            ("gen_ai.workflow.name", Some(result.name.id.as_str().into())),
            ("gen_ai.input.messages", Some(history.into())),
            ("gen_ai.output.messages", last.map(|last| Value::from(vec![last]))),
            ("user.id", Some(result.user().into()).filter(|_| !result.user().is_empty())),
            ("eval_job.run.id", Some(run.id.as_str().into())),
            ("eval_job.job", Some(run.provenance.job.as_str().into())),
            ("eval_job.case", Some(trial.trial.case.as_str().into())),
            ("eval_job.repeat", Some(trial.trial.repeat.into())),
            ("eval_job.outcome", trial.outcome.as_ref().map(|outcome| outcome.label().into())),
        ],
        events: result.metrics.iter().map(|metric| evaluation(metric, to)).collect(),
        error: result.error.clone(),
    });
    let (mut spans, mut at) = (vec![root], from);
    for turn in &result.turns {
        let end = at.saturating_add(spent(turn));
        let (turn_id, span) = trace.turn(turn, &id, at, end);
        spans.push(span);
        spans.extend(turn.calls.iter().enumerate().map(|(place, call)| {
            let id = call_id(call, turn.turn.number, place);
            trace.call(call, id, &turn_id, at..end)
        }));
        at = end;
    }
    spans
}

/// How long a turn took, in nanoseconds.
fn spent(turn: &TurnResult<'_>) -> i64 {
    nanoseconds(turn.turn.spent_ms.or(turn.turn.latency_ms).unwrap_or_default())
}

impl OtlpTrace {
    fn turn(&mut self, turn: &TurnResult<'_>, parent: &str, from: i64, to: i64) -> (String, Value) {
        let usage = turn.turn.usage;
        let mut messages = messages(turn);
        // A result is the input of what the agent does next; the calls are its own spans too.
        messages.retain(|message| message["role"] == "user");
        let output = turn.turn.agent.as_deref().map(|text| Value::from(vec![reply(text)]));
        let error =
            turn.turn.agent.is_none().then(|| {
                turn.turn.failures.last().map_or_else(|| "no reply".to_owned(), |failure| failure.error.clone())
            });
        self.write(OtlpSpan {
            name: format!("invoke_agent {}", self.agent),
            kind: CLIENT,
            parent: Some(parent.to_owned()),
            from,
            to,
            attributes: vec![
                ("gen_ai.operation.name", Some("invoke_agent".into())),
                ("gen_ai.request.model", Some(self.model.as_str().into())),
                ("gen_ai.input.messages", Some(messages.into())),
                ("gen_ai.output.messages", output),
                ("gen_ai.usage.input_tokens", usage.and_then(|usage| usage.input_tokens).map(Value::from)),
                ("gen_ai.usage.output_tokens", usage.and_then(|usage| usage.output_tokens).map(Value::from)),
                ("eval_job.turn", Some(turn.turn.number.into())),
            ],
            events: turn.metrics.iter().map(|metric| evaluation(metric, to)).collect(),
            error,
        })
    }

    fn call(&mut self, call: &ToolUse, id: String, parent: &str, time: Range<i64>) -> Value {
        let span = OtlpSpan {
            name: format!("execute_tool {}", call.tool),
            kind: INTERNAL,
            parent: Some(parent.to_owned()),
            from: time.start,
            to: time.end,
            attributes: vec![
                ("gen_ai.operation.name", Some("execute_tool".into())),
                ("gen_ai.tool.name", Some(call.tool.as_str().into())),
                ("gen_ai.tool.call.id", Some(id.into())),
                ("gen_ai.tool.call.arguments", Some(call.args.to_string().into())),
                ("gen_ai.tool.call.result", call.result.as_ref().map(|result| result.to_string().into())),
            ],
            events: Vec::new(),
            error: None,
        };
        self.write(span).1
    }
}
