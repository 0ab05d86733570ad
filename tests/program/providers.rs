//! Runs whose persona and judge think elsewhere than at OpenAI, and where their keys come from.

use std::path::Path;
use std::process::Command;

use super::eval_job;
use crate::servers::{agent, model};

fn job(agent_address: &str, evaluator: &str, scorer: &str) -> String {
    format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {agent_address}}}}}\n{evaluator}{scorer}facts: [\"F\"]\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n"
    )
}

fn run(folder: &Path, job: &str) -> Command {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--rng-seed", "7", "-o", "record.json"]);
    command
}

fn assert_passed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("hush"), "{stderr}");
    stderr
}

fn record(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("record.json")).unwrap();
    assert!(!text.contains("hush"), "the record holds a key");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn persona_and_judge_of_two_providers_with_keys_from_a_file() {
    let (_agent, agent_address) = agent::start("good");
    let others = model::start_others("good");
    let folder = tempfile::tempdir().unwrap();
    let keys = "# ours\nexport ANTHROPIC_API_KEY='sk-hush-a'\nMY_GEMINI=\"sk-hush-g\"\nANTHROPIC_BASE_URL=http://127.0.0.1:1\n";
    std::fs::write(folder.path().join(".env"), keys).unwrap();
    let scorer = format!(
        "scorer: {{model: {{name: google/gemini-2.5-flash, baseUrl: '{}', apiKeyEnv: MY_GEMINI, maxTokens: 900}}}}\n",
        others.address
    );
    let job = job(&agent_address, "evaluator: {model: anthropic/claude-sonnet-4-5}\n", &scorer);
    let mut command = run(folder.path(), &job);
    // What the environment sets goes before the file.
    command.env("ANTHROPIC_BASE_URL", &others.address);
    assert_passed(command);
    let requests = others.requests();
    for request in &requests {
        let (header, key) = match request.path.as_str() {
            "/v1/messages" => ("x-api-key", "sk-hush-a"),
            "/v1beta/models/gemini-2.5-flash:generateContent" => ("x-goog-api-key", "sk-hush-g"),
            other => panic!("{other}"),
        };
        assert_eq!(request.header(header), Some(key));
    }
    assert!(requests.iter().any(|request| request.path == "/v1/messages"));
    assert!(requests.iter().any(|request| request.body.contains("\"maxOutputTokens\":900")));
    let record = record(folder.path());
    let provenance = &record["provenance"];
    assert_eq!(provenance["personaModel"], "anthropic/claude-sonnet-4-5");
    assert_eq!(provenance["judgeModel"], "gemini/gemini-2.5-flash");
    assert_eq!(provenance["modelEndpoint"], others.address.as_str());
    let usage = &record["trials"][0]["judgements"][0]["usage"];
    assert_eq!((&usage["inputTokens"], &usage["largestTotalTokens"]), (&21.into(), &28.into()));
}

#[test]
fn an_endpoint_of_ones_own_is_named_by_three_variables_or_in_the_job_and_needs_no_key() {
    let (_agent, agent_address) = agent::start("good");
    let (server, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let mut command = run(folder.path(), &job(&agent_address, "", ""));
    command.env("LLM_URL", &base).env("LLM_API_TOKEN", "sk-hush").env("LLM_ID", "meta-llama/llama-3-3");
    assert_passed(command);
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some("Bearer sk-hush")));
    assert!(server.requests().iter().all(|request| request.json()["model"] == "meta-llama/llama-3-3"));
    assert_eq!(record(folder.path())["provenance"]["personaModel"], "openai/meta-llama/llama-3-3");

    let before = server.requests().len();
    let local = format!("{{model: {{name: openai/qwen3, baseUrl: '{base}'}}}}\n");
    let job = job(&agent_address, &format!("evaluator: {local}"), &format!("scorer: {local}"));
    let mut command = run(folder.path(), &job);
    // The usual key is for OpenAI, not for an address in a job.
    command.env("OPENAI_API_KEY", "sk-hush");
    assert_passed(command);
    let requests = server.requests();
    assert!(requests[before..].iter().all(|request| request.header("authorization").is_none()));
    assert!(requests.len() > before && requests[before..].iter().all(|request| request.json()["model"] == "qwen3"));
}

#[test]
fn flags_stand_in_the_file_too_and_what_is_typed_or_set_goes_before() {
    let (_agent, agent_address) = agent::start("good");
    let (_model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let status = |file: &str, arguments: &[&str], set: Option<&str>| {
        std::fs::write(folder.path().join(".env"), file).unwrap();
        let mut command = run(folder.path(), &job(&agent_address, "", ""));
        command.env("OPENAI_API_KEY", "sk-hush").env("OPENAI_BASE_URL", &base).args(arguments);
        if let Some(set) = set {
            command.env("EVAL_JOB_MIN_SCORE", set);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(status("EVAL_JOB_MIN_SCORE=1\nEVAL_JOB_MODEL=small,large\n", &[], None).0, Some(100));
    assert_eq!(record(folder.path())["provenance"]["models"], serde_json::json!(["small", "large"]));
    assert_eq!(status("EVAL_JOB_MIN_SCORE=1\n", &["--min-score", "0"], None).0, Some(0));
    assert_eq!(status("EVAL_JOB_MIN_SCORE=1\n", &[], Some("0")).0, Some(0));
    assert_eq!(status("EVAL_JOB_MIN_SCORE=1\n", &[], Some("")).0, Some(0), "an empty one is set");
    let (code, stderr) = status("EVAL_JOB_MIN_SCORE=7\n", &[], None);
    assert!(code == Some(2) && stderr.contains("invalid value '7' for '--min-score"), "{stderr}");
}
