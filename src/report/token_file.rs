//! Tokens of a run, as JSON in the shape of the token files of Red Hat's evaluation pipeline
//! (`results/token_usage/pipeline_aggregated_*.json` of its self-service agent quickstart), so that its tools read
//! these too. The agent is its "app". Unknown numbers are null, never 0.

use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::WrittenRun;
use crate::record::{
    Asker, DocumentError, ModelCall, Sequence, Spender, Spending, Stage, TrialRecord, total, write_streamed,
};

/// Writes the token file of all runs together, indented and with a newline at its end, while their trials are being read.
///
/// # Errors
/// [`DocumentError`]: a trial that can't be read, or a failing writer.
pub(super) fn write_token_file<E>(runs: &[WrittenRun<'_, E>], to: impl Write) -> Result<(), DocumentError<E>> {
    #[derive(Serialize)]
    struct File<T: Serialize> {
        #[serde(flatten)]
        sums: Value,
        detailed_calls: T,
    }
    let rows = || runs.iter().flat_map(|run| &run.overview.spending);
    let all: Vec<&Spending> = rows().collect();
    let mut sums = part(&all);
    let scripts = Stage::ALL.into_iter().filter_map(|stage| {
        let of_stage: Vec<&Spending> = rows().filter(|row| row.stage == stage).collect();
        (!of_stage.is_empty()).then(|| (stage.as_str().to_owned(), part(&of_stage)))
    });
    let trials = runs.iter().flat_map(|run| (run.trials)());
    sums["scripts"] = Value::Object(scripts.collect());
    write_streamed(trials.map(|trial| trial.map(|trial| calls(&trial))), to, |trials| File {
        sums,
        detailed_calls: Sequence::new(trials.flatten()),
    })
}

/// Every call of our own models in a trial.
fn calls(trial: &TrialRecord) -> Vec<Value> {
    let call = |call: &ModelCall| {
        json!({
            "input_tokens": call.usage.input_tokens,
            "output_tokens": call.usage.output_tokens,
            "total_tokens": call.usage.total_tokens(),
            "model": call.model,
            "context": format!("{} {}", trial.trial.condition.label(), match call.asker {
                Asker::Persona => "persona",
                Asker::Reviewer => "reviewer",
                Asker::Judge => "judge",
            }),
            "timestamp": call.at.to_rfc3339(),
        })
    };
    trial.calls.iter().map(call).collect()
}

/// How the files call the agent's sums: input, output, both, calls, and the largest three.
const APP: [&str; 7] = ["input", "output", "total", "calls", "max_input", "max_output", "max_total"];

/// How they call all others.
const EVALUATION: [&str; 7] = [
    "total_input_tokens",
    "total_output_tokens",
    "total_tokens",
    "call_count",
    "max_input_tokens",
    "max_output_tokens",
    "max_total_tokens",
];

fn part(rows: &[&Spending]) -> Value {
    let agent = rows.iter().copied().filter(|row| row.spender == Spender::Agent);
    let own = rows.iter().copied().filter(|row| row.spender != Spender::Agent);
    json!({
        "summary": sums(rows.iter().copied(), EVALUATION),
        "app_tokens": sums(agent, APP),
        "evaluation_tokens": sums(own, EVALUATION),
    })
}

fn sums<'a>(rows: impl Iterator<Item = &'a Spending>, names: [&str; 7]) -> Value {
    let (usage, _, whole) = total(rows);
    // A role of which every call is known, and that made none, took 0 tokens.
    let nothing = whole && usage.calls == 0;
    let sum = |tokens: Option<u64>| if nothing { Some(0) } else { tokens.filter(|_| whole) };
    let largest = |tokens: Option<u64>| if nothing { Some(0) } else { tokens };
    let numbers = [
        sum(usage.input_tokens),
        sum(usage.output_tokens),
        sum(usage.total_tokens()),
        sum(Some(usage.calls)),
        largest(usage.largest_input_tokens),
        largest(usage.largest_output_tokens),
        largest(usage.largest_total_tokens),
    ];
    let named = names.into_iter().zip(numbers).map(|(name, number)| (name.to_owned(), number.into()));
    Value::Object(named.collect())
}
