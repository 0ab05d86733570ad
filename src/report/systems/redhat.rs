//! The folder `results` of Red Hat's evaluations: the conversations, what was measured on each, and the tokens.

use serde::Serialize;
use serde_json::{Value, json};

use super::result::{CaseResult, MetricResult, Status};
use super::{ResultFolder, ResultNames, each_result, result_id, write_file, write_json};
use crate::evidence::Role;
use crate::record::{DocumentError, Sequence, write_streamed};
use crate::report::WrittenRun;
use crate::report::format::DocumentResult;
use crate::report::token_file::write_token_file;

/// The user of a conversation that names none; the originals do not read one without.
const NOBODY: &str = "test_user_id";

/// Writes the results of these runs.
pub(in crate::report) fn write<E>(runs: &[WrittenRun<'_, E>], folder: &mut dyn ResultFolder) -> DocumentResult<E> {
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let (mut evaluated, mut failed) = (Vec::new(), Vec::new());
    each_result(runs, &names, |result, repeats| {
        let repeat = if repeats { format!("_{}", result.trial.trial.repeat) } else { String::new() };
        let name = format!("{}{repeat}.json", result.name.file);
        let conversation = conversation(result);
        if conversation.as_array().is_some_and(|messages| !messages.is_empty()) {
            let metadata = json!({
                "authoritative_user_id": Some(result.user()).filter(|user| !user.is_empty()).unwrap_or(NOBODY),
                "description": format!("Test results from {}", result.name.id),
            });
            let file = json!({ "metadata": metadata, "conversation": conversation });
            write_json(folder, &format!("conversation_results/{name}"), &file)?;
        }
        match result.status {
            // Conversations that were not evaluated have no figures.
            Status::NotEvaluated => failed.push(not_evaluated(&name, result)),
            _ => {
                let file = evaluation(&name, conversation, &result.metrics);
                write_json(folder, &format!("deep_eval_results/deepeval_{name}"), &file)?;
                evaluated.push(name);
            }
        }
        Ok(())
    })?;
    all_results(runs, folder, &names, evaluated.len(), failed)?;
    write_tokens(runs, folder)
}

/// The messages of both sides. Red Hat's conversations have no tool calls.
fn conversation(result: &CaseResult<'_>) -> Value {
    let transcript = result.trial.evidence.as_ref().map(|evidence| &evidence.transcript);
    let messages = transcript.into_iter().flat_map(|it| it.messages()).map(|message| {
        let role = if message.role == Role::User { "user" } else { "assistant" };
        json!({ "role": role, "content": message.content })
    });
    let pending = result.trial.pending.iter().map(|text| json!({ "role": "user", "content": text }));
    messages.chain(pending).collect()
}

fn evaluation(name: &str, conversation: Value, metrics: &[MetricResult<'_>]) -> Value {
    // The original has no metric without a score: its summary stops at one.
    let is_missing = |metric: &&MetricResult<'_>| metric.status == Status::NotEvaluated;
    let (missing, measured): (Vec<_>, Vec<_>) = metrics.iter().partition(is_missing);
    let total = measured.len();
    let mut evaluation = json!({
        "filename": name,
        "conversation_turns": conversation,
        "metrics": measured.into_iter().map(metric).collect::<Vec<_>>(),
        "total_metrics": total,
    });
    if !missing.is_empty() {
        let why = |metric: &MetricResult<'_>| json!({ "metric": metric.name, "reason": metric.why });
        evaluation["not_evaluated"] = missing.into_iter().map(why).collect();
    }
    evaluation
}

fn metric(result: &MetricResult<'_>) -> Value {
    json!({
        "metric": result.name,
        "score": result.score.map(|score| score.get()),
        "success": matches!(result.status, Status::Passed | Status::Informs),
        "reason": result.why,
        "threshold": result.threshold.map(|threshold| threshold.get()),
        "retry_performed": false,
    })
}

fn not_evaluated(name: &str, result: &CaseResult<'_>) -> Value {
    let outcome = result.trial.outcome.as_ref().map_or("cut off", |outcome| outcome.label());
    let why = result.error.clone().unwrap_or_else(|| "a figure that is asked for is missing".to_owned());
    json!({ "filename": name, "error_type": outcome, "error_details": why, "failure_reason": "not evaluated" })
}

/// `deepeval_all_results.json`: all of them again, streamed.
fn all_results<E>(
    runs: &[WrittenRun<'_, E>],
    folder: &mut dyn ResultFolder,
    names: &ResultNames,
    successes: usize,
    failed: Vec<Value>,
) -> DocumentResult<E> {
    #[derive(Serialize)]
    struct File<T: Serialize> {
        successful_evaluations: T,
        failed_evaluations: Vec<Value>,
        summary: Value,
    }
    let evaluations = runs.iter().flat_map(|run| {
        let several = run.overview.groups.iter().any(|group| group.planned > 1);
        (run.trials)().map(move |trial| {
            trial.map(|trial| {
                let review = crate::evidence::ExpectationReview::default();
                let result = CaseResult::new(run.overview, &trial, &review, names);
                let repeat = if several { format!("_{}", result.trial.trial.repeat) } else { String::new() };
                let name = format!("{}{repeat}.json", result.name.file);
                let is_evaluated = result.status != Status::NotEvaluated;
                is_evaluated.then(|| evaluation(&name, conversation(&result), &result.metrics))
            })
        })
    });
    let mut to = folder.file("deep_eval_results/deepeval_all_results.json").map_err(DocumentError::Write)?;
    let failures = failed.len();
    write_streamed(evaluations, &mut *to, |evaluations| File {
        successful_evaluations: Sequence::new(evaluations.flatten()),
        failed_evaluations: failed,
        summary: json!({
            "total_files": successes + failures,
            "successful_count": successes,
            "failed_count": failures,
        }),
    })?;
    to.finish().map_err(DocumentError::Write)
}

fn write_tokens<E>(runs: &[WrittenRun<'_, E>], folder: &mut dyn ResultFolder) -> DocumentResult<E> {
    let at = runs.first().map(|run| run.overview.summary.started_at.format("%Y%m%d_%H%M%S").to_string());
    let name = at.unwrap_or_else(|| result_id(runs));
    // Where nothing was counted there is no file: recordings seldom tell tokens.
    let has_counts = |run: &WrittenRun<'_, E>| {
        let is_recorded = !run.overview.summary.provenance.recorded.is_empty();
        run.overview.spending.iter().any(|row| row.calls > 0 && (row.usage.is_some() || !is_recorded))
    };
    if !runs.iter().any(has_counts) {
        return Ok(());
    }
    let mut text = Vec::new();
    write_token_file(runs, &mut text)?;
    write_file(folder, &format!("token_usage/pipeline_aggregated_{name}.json"), |to| to.write_all(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    #[test]
    fn a_metric_without_a_score_stands_beside_the_others() {
        let metric = |name, score: Option<f64>, status| MetricResult {
            name,
            threshold: None,
            score: score.map(Score::clamped),
            status,
            why: "why".to_owned(),
            items: Vec::new(),
        };
        let metrics = [metric("a", Some(1.0), Status::Informs), metric("b", None, Status::NotEvaluated)];
        let written = evaluation("f.json", json!([]), &metrics);
        // Its summary formats each score as a number.
        assert_eq!((&written["total_metrics"], &written["metrics"][0]["score"]), (&json!(1), &json!(1.0)));
        assert_eq!(written["not_evaluated"], json!([{"metric": "b", "reason": "why"}]));
    }
}
