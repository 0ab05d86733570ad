//! A real language model, small and weak, as persona, judge and agent: everything ends, in bounds, and nothing that it does
//! as persona or judge is charged to an agent. It is the one that `scripts/model` serves.

use std::time::{Duration, Instant};

use eval_job::evidence::Condition;
use eval_job::record::{Asker, RunRecord, TrialRecord};
use eval_job::score::Outcome;

use super::eval_job;
use crate::servers::{leave_out, variable};

/// The variable that names the server's address, with its `/v1`.
const VARIABLE: &str = "EVAL_JOB_TEST_MODEL_URL";

fn base_url(test: &str) -> Option<String> {
    let url = variable(VARIABLE);
    if url.is_none() {
        leave_out(test, &format!("{VARIABLE} is not set: scripts/model start FOLDER writes OPENAI_BASE_URL"));
    }
    url
}

/// Runs a job whose persona and judge are the model, with more keys; its record, and what the status was.
fn run(url: &str, target: &str, most_messages: u32, more: &str) -> (RunRecord, i32) {
    let folder = tempfile::tempdir().unwrap();
    let model = format!("{{name: openai/smollm2, baseUrl: '{url}'}}");
    let job = format!(
        "name: Real\nevaluator: {{model: {model}}}\nscorer: {{model: {model}}}\ntarget: {{user: u, chatbot: c, {target}}}\n\
         maxTurns: {most_messages}\ntasks: [{{task: Ask for the capital of France, acceptanceCriteria: Paris is named}}]\n\
         {more}\n"
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let args = ["run", "job.yml", "--no-progress", "-j", "1", "-o", "record.json"];
    let output = eval_job(folder.path()).args(args).output().unwrap();
    let record = std::fs::read(folder.path().join("record.json"))
        .unwrap_or_else(|_| panic!("no record: {}", String::from_utf8_lossy(&output.stderr)));
    (serde_json::from_slice(&record).unwrap(), output.status.code().unwrap())
}

/// What must hold of each conversation with an agent that works.
fn check(trial: &TrialRecord) {
    let outcome = trial.outcome.as_ref().unwrap();
    assert!(!matches!(outcome, Outcome::AgentFailed { .. } | Outcome::Broken { .. }), "{outcome:?}");
    for call in &trial.calls {
        // A line; a verdict on one task and on the tone, with what each rests on.
        let most = if call.asker == Asker::Persona { 400 } else { 900 };
        let tokens = call.usage.output_tokens.unwrap();
        assert!(tokens <= most * call.usage.calls, "{call:?}");
    }
}

#[test]
fn persona_and_judge_end_in_bounds_and_outcomes_are_honest() {
    let Some(url) = base_url("persona_and_judge_end_in_bounds_and_outcomes_are_honest") else { return };
    let started = Instant::now();
    let (record, status) = run(&url, "demo: {}", 4, "facts: [The user lives in Oslo]\nlimits: {reruns: 1}");
    assert!(started.elapsed() < Duration::from_secs(900), "{:?}", started.elapsed());
    let conditions: Vec<Condition> = record.trials.iter().map(|trial| trial.trial.condition).collect();
    assert_eq!(conditions, [Condition::WithoutFacts, Condition::WithFacts]);
    record.trials.iter().for_each(check);
    let is_scored = record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Graded));
    assert_eq!(status, if is_scored { 0 } else { 102 });
}

#[test]
fn a_bare_agent_answers_whole_and_in_pieces() {
    let Some(url) = base_url("a_bare_agent_answers_whole_and_in_pieces") else { return };
    for (target, most_messages) in [
        (format!("openai: {{baseUrl: '{url}', maxTokens: 60, streaming: false}}"), 4),
        (format!("openai: {{baseUrl: '{url}', maxTokens: 60}}"), 4),
        // It keeps no responses: a second turn would be refused.
        (format!("responses: {{baseUrl: '{url}', maxTokens: 60}}"), 2),
    ] {
        let (record, _) = run(&url, &target, most_messages, "facts: []\nlimits: {reruns: 0}");
        for trial in &record.trials {
            check(trial);
            let transcript = &trial.evidence.as_ref().unwrap().transcript;
            assert!(transcript.has_reply(), "{target}: {transcript:?}");
        }
    }
}
