//! Figures, and what becomes of several scores: status by threshold, runs, pass@k.

use eval_job::agent::adk::wire::{AdkEvent, parse_run};
use eval_job::agent::command::wire::{MessageReader, tokens_of};
use eval_job::evidence::{Turn, Usage};
use eval_job::metric::figures::{FigureKind, figure};
use eval_job::score::{PassStatus, Score, majority, pass_at_k, pass_hat_k, pooled_mean};
use serde_json::{Map, Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about numbers.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let is_of_numbers = |key: &str| vector.list(key).iter().all(Value::is_number);
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["score", "threshold"]) => {
            let status = PassStatus::new(score(&vector.input["score"]), threshold(vector));
            ("status", Ok(json!({"status": adk_status(status)})))
        }
        "adk" if vector.has(&["calls"]) => ("token usage", token_usage(vector)),
        "adk" if vector.has(&["runs_invocation_scores"]) => ("several runs", Ok(several_runs(vector))),
        "trpc" if vector.has(&["n", "c", "k"]) => ("pass@k", passes(vector)),
        "trpc" if vector.has(&["metric_statuses"]) => ("status of a case", case_status(vector)),
        "trpc" if vector.has(&["samples"]) && is_of_numbers("samples") => ("majority", majority_of(vector)),
        "redhat" if vector.has(&["line"]) => {
            let tokens = tokens_of(vector.text("line").unwrap_or_default());
            ("report of tokens", Ok(tokens.map_or(Value::Null, |it| report(&it))))
        }
        "redhat" if vector.has(&["stdout_lines"]) => ("messages on standard output", message(vector)),
        _ => return None,
    };
    Some((kind, Answer(given)))
}

fn score(value: &Value) -> Option<Score> {
    value.as_f64().map(Score::clamped)
}

fn threshold(vector: &Vector) -> Score {
    score(&vector.input["threshold"]).unwrap_or(Score::ONE)
}

/// A status as ADK spells it.
pub fn adk_status(status: PassStatus) -> &'static str {
    match status {
        PassStatus::Passed => "PASSED",
        PassStatus::Failed => "FAILED",
        PassStatus::NotEvaluated => "NOT_EVALUATED",
    }
}

/// A status as trpc spells it.
fn trpc_status(status: PassStatus) -> &'static str {
    match status {
        PassStatus::Passed => "passed",
        PassStatus::Failed => "failed",
        PassStatus::NotEvaluated => "not_evaluated",
    }
}

/// Calls of one turn, as ADK reports them, and the turn's figure.
fn token_usage(vector: &Vector) -> Result<Value, String> {
    let keys = [
        ("prompt", "promptTokenCount"),
        ("tool_use_prompt", "toolUsePromptTokenCount"),
        ("cached", "cachedContentTokenCount"),
        ("candidates", "candidatesTokenCount"),
        ("thoughts", "thoughtsTokenCount"),
        ("backend_total", "totalTokenCount"),
    ];
    let event = |call: &Value| {
        let counts: Map<String, Value> =
            keys.iter().filter_map(|(key, name)| Some(((*name).to_owned(), call.get(key)?.clone()))).collect();
        let event = json!({"author": "agent", "content": {"role": "model", "parts": [{"text": "ok"}]}, "usageMetadata": counts});
        AdkEvent::read(event).map_err(|why| why.to_string())
    };
    let events = vector.list("calls").iter().map(event).collect::<Result<Vec<_>, _>>()?;
    let usage = parse_run(&events).map_err(|why| why.to_string())?.usage;
    let turn = Turn { usage, ..Turn::begun(1, "hello".to_owned()) };
    let usage = usage.unwrap_or_default();
    Ok(json!({
        "overall_score": figure(FigureKind::Tokens, std::slice::from_ref(&turn)).mean,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": FigureKind::Tokens.of_turn(&turn),
        "cached_tokens": usage.cached_input_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "inference_calls": figure(FigureKind::ModelCalls, &[turn]).mean,
    }))
}

/// ADK's mean over the turns of all runs; a run that crashed fails the case.
fn several_runs(vector: &Vector) -> Value {
    let of_run = |run: &Value| run.as_array().map(|run| run.iter().map(score).collect()).unwrap_or_default();
    let runs: Vec<Vec<Option<Score>>> = vector.list("runs_invocation_scores").iter().map(of_run).collect();
    let mean = pooled_mean(&runs);
    let crashed = vector.input.get("crashed_runs").and_then(Value::as_u64).unwrap_or_default() > 0;
    let status = if crashed { PassStatus::Failed } else { PassStatus::new(mean, threshold(vector)) };
    json!({"score": mean.map(Score::get), "final_status": adk_status(status)})
}

fn passes(vector: &Vector) -> Result<Value, String> {
    let number = |key: &str| vector.input[key].as_u64().ok_or(format!("{key} is {}", vector.input[key]));
    let (runs, passed, k) = (number("n")?, number("c")?, number("k")?);
    match vector.expects("pass_hat_k") || vector.name.starts_with("pass^k") {
        true => pass_hat_k(runs, passed, k).map(|it| json!({"pass_hat_k": it})),
        false => pass_at_k(runs, passed, k).map(|it| json!({"pass_at_k": it})),
    }
    .map_err(|why| why.to_string())
}

fn case_status(vector: &Vector) -> Result<Value, String> {
    let read = |status: &Value| match status.as_str() {
        Some("passed") => Ok(PassStatus::Passed),
        Some("failed") => Ok(PassStatus::Failed),
        Some("not_evaluated") => Ok(PassStatus::NotEvaluated),
        _ => Err(format!("{status} is no status")),
    };
    let all = vector.list("metric_statuses").iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let status = PassStatus::combine(all);
    Ok(json!({"score": u8::from(status == PassStatus::Passed), "status": trpc_status(status)}))
}

fn majority_of(vector: &Vector) -> Result<Value, String> {
    let samples: Vec<Score> = vector.list("samples").iter().filter_map(score).collect();
    let majority = majority(&samples, threshold(vector)).ok_or("there are no samples")?;
    let status = if majority.is_positive { PassStatus::Passed } else { PassStatus::Failed };
    Ok(json!({"score": samples[majority.representative].get(), "status": trpc_status(status)}))
}

fn report(usage: &Usage) -> Value {
    let or_0 = Option::unwrap_or_default;
    json!({
        "input": usage.input_tokens, "output": usage.output_tokens, "total": usage.total_tokens(), "calls": usage.calls,
        "max_input": or_0(usage.largest_input_tokens), "max_output": or_0(usage.largest_output_tokens),
        "max_total": or_0(usage.largest_total_tokens),
    })
}

fn message(vector: &Vector) -> Result<Value, String> {
    let terminator = vector.text("terminator").unwrap_or_default();
    let mut reader = MessageReader::default();
    let mut lines = vector.list("stdout_lines").iter().filter_map(Value::as_str);
    let message = lines.find_map(|line| reader.take(line, terminator));
    Ok(json!({"response": message.ok_or("the message has no end")?}))
}
