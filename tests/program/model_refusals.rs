//! Models of our own that refuse every request, or never answer.

use serde_json::{Value, json};

use super::eval_job;
use super::judges::agent;
use crate::servers::http::{Reply, Server};

#[test]
fn a_persona_that_refuses_the_first_requests_stops_the_run_and_no_more_conversations_are_paid() {
    let (agent, persona) = (agent(), Server::start(|_| Reply::Json(401, json!({"error": {"message": "wrong key"}}))));
    let folder = tempfile::tempdir().unwrap();
    let task = json!({"task": "Book a table", "acceptanceCriteria": "it is booked"});
    let cases: Vec<Value> = (0..40).map(|case| json!({"id": format!("c{case}"), "tasks": [task]})).collect();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"model": {"name": "openai/user", "baseUrl": format!("{}/v1", persona.address)}},
        "scorer": {"model": "scripted"},
        "facts": [],
        "greetings": [],
        "cases": cases,
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let flags = ["run", "job.yml", "--model", "m", "--no-progress", "-j", "1", "-o", "run.json"];
    let output = eval_job(folder.path()).args(flags).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("stopped: the persona refused each of 3 requests"), "{words}");
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    let held = record["trials"].as_array().unwrap().iter().filter(|trial| trial["outcome"].is_object()).count();
    assert_eq!(held, 3, "{words}");
}

#[test]
fn a_judge_that_says_nothing_is_waited_for_as_long_as_the_job_says() {
    let (agent, judge) = (agent(), Server::start(|_| Reply::Silence));
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["Hi"]},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "limits": {"model": 0.2},
        "metrics": [{"rubric": {"rubrics": [{"id": "kind", "text": "It is kind."}]}}],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "--no-progress"]).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!((1..=3).contains(&judge.requests().len()), "{words}");
}
