//! `*.evalset_result.json` of Google ADK 2: an `EvalSetResult`, in snake_case.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::result::{CaseResult, MetricResult, Status, TurnResult, call_id, epoch, object};
use super::{ResultNames, job_names, result_id, results};
use crate::evidence::figures::{FigureKind, figure};
use crate::evidence::{Event, ToolUse, Turn, TurnExpectation, Usage};
use crate::record::{DocumentError, Sequence, write_streamed};
use crate::report::WrittenRun;

/// Writes the results of these runs, while their trials are being read.
pub(in crate::report) fn write<E>(runs: &[WrittenRun<'_, E>], to: impl Write) -> Result<(), DocumentError<E>> {
    #[derive(Serialize)]
    struct File<T: Serialize> {
        eval_set_result_id: String,
        eval_set_result_name: String,
        eval_set_id: String,
        creation_timestamp: f64,
        eval_case_results: T,
    }
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let id = result_id(runs);
    let cases = results(runs, &names, case);
    let created = runs.first().map_or(0.0, |run| epoch(run.overview.summary.started_at));
    write_streamed(cases, to, |cases| File {
        eval_set_result_id: id.clone(),
        eval_set_result_name: id,
        eval_set_id: job_names(runs).join("+"),
        creation_timestamp: created,
        eval_case_results: Sequence::new(cases),
    })
}

/// The numbers of `EvalStatus`.
fn code(status: Status) -> u8 {
    match status {
        Status::Passed => 1,
        Status::Failed => 2,
        Status::NotEvaluated => 3,
        Status::Informs => 4,
    }
}

fn case(set: &str, result: &CaseResult<'_>) -> Value {
    // ADK has no greetings: one is a turn in which the user says nothing.
    let turn = |turn: &TurnResult<'_>| {
        json!({
            "actual_invocation": actual(turn),
            "expected_invocation": turn.expected.map(expected),
            "eval_metric_results": with_figures(&turn.metrics, result.criteria, |kind| {
                (kind.of_turn(&turn.turn), details(kind, std::slice::from_ref(&turn.turn)))
            }),
        })
    };
    let turns = result.trial.evidence.iter().flat_map(|evidence| evidence.transcript.turns.iter().cloned());
    let turns: Vec<Turn> = turns.collect();
    let mut case = json!({
        "eval_set_id": set,
        "eval_id": result.name.id,
        "final_eval_status": code(result.status),
        "overall_eval_metric_results": with_figures(&result.metrics, result.criteria, |kind| {
            (figure(kind, &turns).mean, details(kind, &turns))
        }),
        "eval_metric_result_per_invocation": result.turns.iter().map(turn).collect::<Vec<_>>(),
        "session_id": result.session(),
        "user_id": result.user(),
    });
    if let Some(error) = &result.error {
        // ADK's own files have no place for it; its readers pass over what they do not know.
        case["error_message"] = error.as_str().into();
    }
    case
}

/// The results of metrics, and of ADK's four that only inform, which it adds to each run.
fn with_figures(
    metrics: &[MetricResult<'_>],
    criteria: &BTreeMap<String, Value>,
    of: impl Fn(FigureKind) -> (Option<f64>, Value),
) -> Vec<Value> {
    let is_there = |kind: &FigureKind| metrics.iter().any(|metric| metric.name == kind.adk_name());
    let informs = |kind: FigureKind| {
        let (value, details) = of(kind);
        json!({
            "metric_name": kind.adk_name(),
            "threshold": null,
            "criterion": null,
            "score": value,
            "eval_status": code(Status::Informs),
            "details": details,
        })
    };
    let figures = FigureKind::ALL.into_iter().filter(|kind| !is_there(kind)).map(informs);
    metrics.iter().map(|result| metric(result, criteria)).chain(figures).collect()
}

/// The parts of tokens and of times, on average over all turns; the greeting is none. What nobody reported is null.
fn details(kind: FigureKind, turns: &[Turn]) -> Value {
    let turns = || turns.iter().filter(|turn| !turn.is_greeting());
    let mean = |part: fn(&Usage) -> Option<u64>| {
        let known: Vec<u64> = turns().filter_map(|turn| part(turn.usage.as_ref()?)).collect();
        (!known.is_empty()).then(|| known.iter().map(|it| *it as f64).sum::<f64>() / turns().count().max(1) as f64)
    };
    match kind {
        FigureKind::Tokens => {
            let (input, output) = (mean(|it| it.input_tokens), mean(|it| it.output_tokens));
            let reasoning = mean(|it| it.reasoning_tokens);
            let total = input.or(output).map(|_| input.unwrap_or_default() + output.unwrap_or_default());
            json!({ "token_usage_details": {
                "total_tokens": total,
                "input_tokens": input,
                "prompt_tokens": input,
                "cached_tokens": mean(|it| it.cached_input_tokens),
                "output_tokens": output,
                "candidates_tokens": output.map(|output| (output - reasoning.unwrap_or_default()).max(0.0)),
                "reasoning_tokens": reasoning,
            } })
        }
        FigureKind::Seconds => {
            let timed: Vec<Turn> = turns().cloned().collect();
            json!({ "duration_details": { "total_seconds": figure(kind, &timed).mean } })
        }
        FigureKind::ToolCalls | FigureKind::ModelCalls => json!({}),
    }
}

/// A metric has no place for a reason but those of its rubrics.
fn metric(result: &MetricResult<'_>, criteria: &BTreeMap<String, Value>) -> Value {
    let reason = |id: &str, why: &str, score: Option<crate::score::Score>| json!({ "rubric_id": id, "rationale": why, "score": score.map(|score| score.get()) });
    let reasons: Vec<Value> = match result.items.as_slice() {
        [] => vec![reason(result.name, &result.why, result.score)],
        items => items.iter().map(|it| reason(&it.label, it.component.why(), it.component.score())).collect(),
    };
    json!({
        "metric_name": result.name,
        "threshold": result.threshold.map(|threshold| threshold.get()),
        "criterion": result.threshold.map(|threshold| {
            criteria.get(result.name).cloned().unwrap_or_else(|| json!({ "threshold": threshold.get() }))
        }),
        "score": result.score.map(|score| score.get()),
        "eval_status": code(result.status),
        "details": { "rubric_scores": reasons },
    })
}

fn content(role: &str, text: &str) -> Value {
    json!({ "role": role, "parts": [{ "text": text }] })
}

fn calls(uses: &[ToolUse], turn: u32) -> Value {
    let named = || uses.iter().enumerate().map(|(place, call)| (call_id(call, turn, place), call));
    let uses: Vec<Value> =
        named().map(|(id, call)| json!({ "id": id, "name": call.tool, "args": object(&call.args, "value") })).collect();
    let responses: Vec<Value> = named()
        .filter_map(|(id, call)| {
            let result = call.result.as_ref()?;
            Some(json!({ "id": id, "name": call.tool, "response": object(result, "result") }))
        })
        .collect();
    json!({ "tool_uses": uses, "tool_responses": responses, "intermediate_responses": [] })
}

fn actual(result: &TurnResult<'_>) -> Value {
    let turn = &result.turn;
    let mut invocation = json!({
        "invocation_id": format!("turn-{}", turn.number),
        "user_content": content("user", &turn.user),
        "final_response": turn.agent.as_deref().map(|text| content("model", text)),
        "intermediate_data": calls(&result.calls, turn.number),
    });
    let author = |event: &Event| event.intermediate_author().unwrap_or_default().to_owned();
    let said =
        turn.events.iter().filter_map(|event| Some(json!([author(event), [{ "text": event.intermediate_text()? }]])));
    invocation["intermediate_data"]["intermediate_responses"] = said.collect();
    if let Some(latency) = turn.latency_ms {
        invocation["duration"] = (latency / 1000.0).into();
    }
    invocation
}

fn expected(turn: &TurnExpectation) -> Value {
    json!({
        "invocation_id": format!("turn-{}", turn.turn),
        "user_content": content("user", &turn.say),
        "final_response": turn.reply.as_deref().map(|text| content("model", text)),
        "intermediate_data": turn.calls.as_ref().map(|uses| calls(uses, turn.turn)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_says_before_its_reply_is_an_intermediate_response_with_its_author() {
        let events = vec![
            Event::intermediate("One moment", "planner"),
            Event::call("look", json!({"at": 1}), json!({"found": true})),
            Event::intermediate("Nearly done", "searcher"),
        ];
        let turn = Turn { events, ..Turn::answered(2, "Where is it?", "It is here") };
        let calls = ToolUse::from_events(&turn.events);
        let written = actual(&TurnResult { turn, calls, expected: None, metrics: Vec::new() });
        let said = &written["intermediate_data"]["intermediate_responses"];
        assert_eq!(*said, json!([["planner", [{"text": "One moment"}]], ["searcher", [{"text": "Nearly done"}]]]));
        assert_eq!(written["intermediate_data"]["tool_uses"][0]["name"], "look");
        assert_eq!(written["final_response"], content("model", "It is here"));
    }

    #[test]
    fn the_four_figures_that_inform_are_in_every_result() {
        let turn = Turn::answered(1, "Hi", "Hello");
        let written = with_figures(&[], &BTreeMap::new(), |kind| {
            (kind.of_turn(&turn), details(kind, std::slice::from_ref(&turn)))
        });
        let names: Vec<&str> = written.iter().map(|it| it["metric_name"].as_str().unwrap()).collect();
        assert_eq!(names, FigureKind::ALL.map(FigureKind::adk_name));
        assert!(written.iter().all(|it| it["eval_status"] == 4 && it["threshold"].is_null()), "{written:#?}");
        assert_eq!((&written[0]["score"], &written[2]["score"]), (&json!(0.0), &Value::Null));
    }

    #[test]
    fn tokens_and_times_are_told_in_their_parts() {
        let usage = Usage { calls: 1, input_tokens: Some(100), output_tokens: Some(30), ..Usage::default() };
        let usage = Usage { reasoning_tokens: Some(10), ..usage };
        let turns = [
            Turn { usage: Some(usage), latency_ms: Some(1500.0), ..Turn::answered(1, "Hi", "Hello") },
            Turn::answered(2, "Bye", "Bye"),
        ];
        let tokens = details(FigureKind::Tokens, &turns)["token_usage_details"].clone();
        let of = |name: &str| tokens[name].as_f64();
        assert_eq!((of("total_tokens"), of("input_tokens"), of("output_tokens")), (Some(65.0), Some(50.0), Some(15.0)));
        assert_eq!(
            (of("candidates_tokens"), of("reasoning_tokens"), of("cached_tokens")),
            (Some(10.0), Some(5.0), None)
        );
        let seconds = details(FigureKind::Seconds, &turns)["duration_details"].clone();
        assert_eq!(seconds["total_seconds"], 1.5, "over the turns that were timed");
    }
}
