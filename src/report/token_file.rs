//! What a run took, as JSON in the shape of the token files of Red Hat's evaluation pipeline
//! (`results/token_usage/pipeline_aggregated_*.json` of its self-service agent quickstart), so that what reads those reads
//! this. The agent is its "app". What is not known is null, never 0.

use serde_json::{Value, json};

use crate::evidence::Usage;
use crate::record::{RunRecord, Spender, Spending, Stage, total};

/// The token file of a run: indented JSON with a newline at its end.
///
/// # Errors
/// Never, in practice: every key is a string.
pub fn token_file(record: &RunRecord) -> serde_json::Result<Vec<u8>> {
    let rows = record.spending();
    let all: Vec<&Spending> = rows.iter().collect();
    let mut file = part(&all);
    let scripts = Stage::ALL.into_iter().filter_map(|stage| {
        let of_stage: Vec<&Spending> = rows.iter().filter(|row| row.stage == stage).collect();
        (!of_stage.is_empty()).then(|| (stage.word().to_owned(), part(&of_stage)))
    });
    file["scripts"] = Value::Object(scripts.collect());
    let calls = record.trials.iter().flat_map(|trial| trial.calls.iter().map(move |call| (trial, call)));
    let calls = calls.map(|(trial, call)| {
        json!({
            "input_tokens": call.usage.input_tokens,
            "output_tokens": call.usage.output_tokens,
            "total_tokens": call.usage.total_tokens(),
            "model": call.model,
            "context": format!("{} {}", trial.trial.condition.words(), match call.asker {
                crate::record::Asker::Persona => "persona",
                crate::record::Asker::Judge => "judge",
            }),
            "timestamp": call.at.to_rfc3339(),
        })
    });
    file["detailed_calls"] = calls.collect();
    let mut json = serde_json::to_vec_pretty(&file)?;
    json.push(b'\n');
    Ok(json)
}

fn part(rows: &[&Spending]) -> Value {
    let agent = rows.iter().copied().filter(|row| row.spender == Spender::Agent);
    let own = rows.iter().copied().filter(|row| row.spender != Spender::Agent);
    json!({
        "summary": evaluation(sums(rows.iter().copied())),
        "app_tokens": app(sums(agent)),
        "evaluation_tokens": evaluation(sums(own)),
    })
}

/// The sums, and whether they are all.
fn sums<'a>(rows: impl Iterator<Item = &'a Spending>) -> (Usage, bool) {
    let (usage, _, whole) = total(rows);
    (usage, whole)
}

/// Their names for the agent's.
fn app((usage, whole): (Usage, bool)) -> Value {
    let sum = |tokens: Option<u64>| known(usage, whole, tokens);
    json!({
        "input": sum(usage.input_tokens),
        "output": sum(usage.output_tokens),
        "total": sum(usage.total_tokens()),
        "calls": if whole { usage.calls.into() } else { Value::Null },
        "max_input": largest(usage, whole, usage.largest_input_tokens),
        "max_output": largest(usage, whole, usage.largest_output_tokens),
        "max_total": largest(usage, whole, usage.largest_total_tokens),
    })
}

/// Their names for everything else.
fn evaluation((usage, whole): (Usage, bool)) -> Value {
    let sum = |tokens: Option<u64>| known(usage, whole, tokens);
    json!({
        "total_input_tokens": sum(usage.input_tokens),
        "total_output_tokens": sum(usage.output_tokens),
        "total_tokens": sum(usage.total_tokens()),
        "call_count": if whole { usage.calls.into() } else { Value::Null },
        "max_input_tokens": largest(usage, whole, usage.largest_input_tokens),
        "max_output_tokens": largest(usage, whole, usage.largest_output_tokens),
        "max_total_tokens": largest(usage, whole, usage.largest_total_tokens),
    })
}

/// A sum that is all; nobody who took anything at all took 0.
fn known(usage: Usage, whole: bool, tokens: Option<u64>) -> Option<u64> {
    if whole && usage.calls == 0 { Some(0) } else { tokens.filter(|_| whole) }
}

/// The largest that is known.
fn largest(usage: Usage, whole: bool, tokens: Option<u64>) -> Option<u64> {
    if whole && usage.calls == 0 { Some(0) } else { tokens }
}
