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

/// A job with fixed lines, which a model of this name judges.
fn judged_by(name: &str, agent: &Server, judge: &Server) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["Hi"]},
        "scorer": {"model": {"name": format!("openai/{name}"), "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "cases": (0..6).map(|case| json!({"id": format!("c{case}")})).collect::<Vec<_>>(),
        "metrics": [{"rubric": {"rubrics": [{"id": "kind", "text": "It is kind."}]}}],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    folder
}

fn run(folder: &tempfile::TempDir) -> (Option<i32>, String) {
    let flags = ["run", "job.yml", "--model", "m", "--no-progress", "-j", "1"];
    let output = eval_job(folder.path()).args(flags).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), words.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_judge_of_a_name_that_its_endpoint_does_not_know_is_refused_before_any_message() {
    let agent = agent();
    let judge = |has_list: bool| {
        Server::with_list(move |request| match request.path.as_str() {
            "/v1/models" if has_list => Reply::Json(200, json!({"data": [{"id": "judge"}]})),
            "/v1/models" => Reply::Json(404, json!({})),
            _ => Reply::Json(404, json!({"error": {"message": "there is no such model"}})),
        })
    };
    let listed = judge(true);
    let (status, words) = run(&judged_by("jugde", &agent, &listed));
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("\"there is no such model\"; check the name of the model, \"jugde\""), "{words}");
    assert_eq!(agent.requests().iter().filter(|request| request.method == "POST").count(), 0, "{words}");
    // Without a list the first question finds it out, and its conversation is kept for another judge.
    let unlisted = judge(false);
    let (status, words) = run(&judged_by("jugde", &agent, &unlisted));
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("stopped: the judge refused its first request"), "{words}");
    assert_eq!(agent.requests().iter().filter(|request| request.method == "POST").count(), 1, "{words}");
}

#[test]
fn a_judge_that_is_not_in_the_list_and_answers_all_the_same_is_asked() {
    let agent = agent();
    let judge = Server::with_list(|request| match request.path.as_str() {
        "/v1/models" => Reply::Json(200, json!({"data": [{"id": "some-file.gguf"}]})),
        _ => Reply::Json(400, json!({"error": {"message": "messages: too short"}})),
    });
    let (_, words) = run(&judged_by("anything", &agent, &judge));
    assert!(!words.contains("check the name of the model"), "{words}");
    assert!(agent.requests().iter().any(|request| request.method == "POST"), "{words}");
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

#[test]
fn an_agents_endpoint_that_refuses_the_key_or_lacks_the_model_is_known_before_a_run() {
    // Its list of models is for everybody.
    let endpoint = Server::with_list(|request| match request.path.as_str() {
        "/v1/models" => Reply::Json(200, json!({"data": [{"id": "large-one"}]})),
        _ if request.header("authorization") != Some("Bearer right-key-1") => {
            Reply::Json(401, json!({"error": {"message": "no such key"}}))
        }
        _ => Reply::Json(400, json!({"error": {"message": "there is no model"}})),
    });
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", endpoint.address)}},
        "evaluator": {"script": [{"say": "Hello", "expected": {"reply": "Hi"}}]},
        "scorer": {"model": "scripted"},
        "facts": [],
        "metrics": ["text"],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let validated = |key: &str, model: &str| {
        let mut command = eval_job(folder.path());
        command.env("EVAL_JOB_AGENT_API_KEY", key).args(["validate", "--live", "job.yml", "--model", model]);
        let output = command.output().unwrap();
        let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (status, words) = validated("wrong-key-1", "large-one");
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("broken · the model of the agent:") && words.contains("no such key"), "{words}");
    let (status, words) = validated("right-key-1", "large-won");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("agent reachable, warning: its list of models has no large-won"), "{words}");
    assert!(words.contains("did you mean \"large-one\"?"), "{words}");
    let (status, words) = validated("right-key-1", "large-one");
    assert_eq!((status, words.contains("warning")), (Some(0), false), "{words}");
    // No question was asked.
    assert!(endpoint.requests().iter().all(|request| request.body.is_empty() || request.body == "{}"));
}
