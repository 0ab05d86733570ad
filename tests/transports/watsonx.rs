//! watsonx Orchestrate end to end, against a server on loopback that answers as IBM's evaluation framework
//! (`ibm-watsonx-orchestrate-evaluation-framework` 1.6.9, `agentops/runtime_adapter`) has to expect it.

use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::evidence::{EventKind, ToolCall};
use eval_job::score::Outcome;
use serde_json::{Value, json};

use super::run;
use crate::program::eval_job;
use crate::servers::http::{Reply, Request, Server};

pub const AGENT: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
pub const THREAD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A job that talks in fixed lines.
fn job(url: &str, watsonx: &str, more: &str) -> String {
    format!(
        "evaluator: {{script: [Please note the milk]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\nmaxTurns: 20\n\
         target: {{user: ann, chatbot: helper, watsonx: {{baseUrl: '{url}', apiKey: hush-hush-key, {watsonx}}}}}\n{more}"
    )
}

const NOTES: &str = "timing: {on: firstToken}\naspirationalAverage: 60000\nassertions:\n  - expression: \
    'evaluation.functionCalls.count(|it| it.function == \"note\" && it.args.thing == \"milk\") == 1'\n";

fn steps() -> Value {
    json!([
        {"type": "tool_calls", "tool_calls": [{"id": "c1", "name": "note", "args": {"thing": "milk"}}]},
        {"type": "tool_response", "name": "note", "content": "{\"count\":1}", "tool_call_id": "c1"},
    ])
}

fn said(words: &str) -> (Value, String) {
    if words == "Hello" { (json!([]), "You said: Hello".to_owned()) } else { (steps(), "Noted: milk.".to_owned()) }
}

/// v1: a run's events, one a line.
pub fn run_lines(message: &str) -> String {
    let (steps, text) = said(message);
    let event = |name: &str, mut data: Value| {
        data["thread_id"] = THREAD.into();
        format!("{}\n", json!({"id": "e", "event": name, "data": data}))
    };
    let mut lines = event("run.started", json!({"run_id": "r"}));
    for step in steps.as_array().unwrap() {
        lines.push_str(&event("run.step.delta", json!({"delta": {"role": "assistant", "step_details": [step]}})));
    }
    let content = json!([{"response_type": "text", "text": text}]);
    lines.push_str(&event("message.delta", json!({"delta": {"role": "assistant", "content": content}})));
    lines.push_str(&event("message.created", json!({"message": {"role": "assistant", "content": content}})));
    [lines, event("run.completed", json!({})), event("done", json!({}))].concat()
}

/// v2: a turn's frames.
pub fn frames(message: &str, thread: &str) -> String {
    let (steps, text) = said(message);
    let content = json!([{"response_type": "text", "text": text}]);
    let frames = [
        json!({"object": "thread.message.delta", "thread_id": thread, "choices": [{"delta": {"role": "assistant", "content": text}}]}),
        json!({"object": "thread.message.completed", "thread_id": thread, "run_id": "r",
               "data": {"message": {"role": "assistant", "content": content, "step_details": steps}},
               "choices": [{"message": {"role": "assistant", "content": text}}]}),
    ];
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}

fn answer(request: &Request) -> Reply {
    let body = request.json();
    match request.path.as_str() {
        "/v1/orchestrate/agents" => {
            Reply::Json(200, json!([{"id": AGENT, "name": "helper"}, {"id": "2", "name": "other"}]))
        }
        "/v1/orchestrate/runs?stream=true" => {
            let lines = run_lines(body["message"]["content"].as_str().unwrap());
            Reply::Body(200, "application/x-ndjson", lines.into_bytes())
        }
        path if path.ends_with("/chat/completions") => {
            let message = body["messages"].as_array().unwrap().last().unwrap();
            let own = body["thread_id"].as_str().unwrap_or(THREAD);
            Reply::Body(200, "text/event-stream", frames(message["content"].as_str().unwrap(), own).into_bytes())
        }
        _ => Reply::Json(404, json!({"detail": "Not Found"})),
    }
}

#[test]
fn a_conversation_with_a_tool_is_held_on_both_apis() {
    let v2 = format!("/api/v2/{AGENT}/chat/completions");
    let saas = format!("/v2/orchestrate/{AGENT}/chat/completions");
    for (watsonx, path) in [
        ("context: {tenant: x}", "/v1/orchestrate/runs?stream=true"),
        ("api: v2", v2.as_str()),
        ("api: v2, threads: server", v2.as_str()),
        ("api: v2, edition: saas, environment: 7c9e6679-7425-40de-944b-e07fc1f90ae7", saas.as_str()),
    ] {
        let server = Server::start(answer);
        let (output, record) = run(&job(&server.address, watsonx, NOTES), &["--condition", "without-facts"]);
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
        let turns = &record.trials[0].evidence.as_ref().unwrap().transcript.turns;
        let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
        assert_eq!(said, ["You said: Hello", "Noted: milk."], "{watsonx}");
        let call =
            EventKind::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": "milk"}).into() });
        assert_eq!(
            turns[1].events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>(),
            [call, EventKind::FunctionResponse { output: json!({"count": 1}).into() }]
        );
        assert!(turns.iter().all(|turn| turn.first_token_ms.unwrap() <= turn.latency_ms.unwrap()));
        let messages: Vec<Request> = server.requests().into_iter().filter(|request| request.path == path).collect();
        assert_eq!(messages.len(), 2, "{watsonx}: {:?}", server.requests());
        assert!(messages.iter().all(|request| request.header("authorization") == Some("Bearer hush-hush-key")));
        threads(watsonx, &messages[0], &messages[1]);
        assert!(!serde_json::to_string(&record).unwrap().contains("hush"));
    }
}

/// How the conversation's second message says which conversation it belongs to.
fn threads(watsonx: &str, first: &Request, second: &Request) {
    let (one, two) = (first.json(), second.json());
    let header = |request: &Request| request.header("x-ibm-thread-id").map(str::to_owned);
    if !watsonx.contains("v2") {
        assert_eq!((&one["thread_id"], &two["thread_id"]), (&Value::Null, &json!(THREAD)));
        assert_eq!((&one["agent_id"], &one["context"]), (&json!(AGENT), &json!({"tenant": "x"})));
    } else if watsonx.contains("server") {
        assert_eq!((header(first).as_deref(), header(second).as_deref()), (Some("new"), Some(THREAD)));
        assert_eq!((two["messages"].as_array().unwrap().len(), &two["thread_id"]), (1, &Value::Null));
    } else {
        assert_eq!((header(first), header(second)), (None, None));
        assert_eq!(one["thread_id"], two["thread_id"]);
        assert_eq!(one["thread_id"].as_str().unwrap().len(), 36);
        assert_eq!(two["messages"].as_array().unwrap().len(), 3, "all that was said, and the new message");
    }
    let environment = watsonx.contains("environment").then_some(AGENT);
    assert_eq!(first.header("x-ibm-environment-id"), environment);
}

#[test]
fn an_api_key_is_exchanged_and_goes_nowhere_else() {
    let granted = AtomicUsize::new(0);
    let server = Server::start(move |request| {
        if request.path == "/identity/token" {
            assert!(request.body.contains("apikey=hush-hush-key"), "{}", request.body);
            let token = format!("token-{}", granted.fetch_add(1, Ordering::SeqCst));
            return Reply::Json(200, json!({"access_token": token, "expires_in": 3600}));
        }
        // The first token has been taken back.
        match request.header("authorization") {
            Some("Bearer token-1") => answer(request),
            _ => Reply::Json(401, json!({"code": 401, "message": "token expired"})),
        }
    });
    let watsonx = format!("api: v2, auth: iam, iamUrl: '{}'", server.address);
    let (output, _) = run(&job(&server.address, &watsonx, ""), &["--condition", "without-facts"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|request| request.path == "/identity/token").count(), 2);
    let leaks = |request: &&Request| request.path != "/identity/token" && format!("{request:?}").contains("hush");
    assert_eq!(requests.iter().filter(leaks).count(), 0);
}

#[test]
fn a_wrong_name_and_a_wrong_key_are_told_with_what_to_try() {
    for (watsonx, status, words) in [
        (
            "agent: halper",
            200,
            r#"no agent is called \"halper\"; there are \"helper\", \"other\"; check target.watsonx.agent"#,
        ),
        ("agent: helper", 401, "target.watsonx.apiKey or EVAL_JOB_AGENT_API_KEY"),
    ] {
        let server = Server::start(move |request| match status {
            200 => answer(request),
            status => Reply::Json(status, json!({"message": "who are you? hush-hush-key"})),
        });
        let (_, record) = run(&job(&server.address, watsonx, ""), &["--condition", "without-facts"]);
        let outcome = format!("{:?}", record.trials[0].outcome);
        // Nothing was said to the agent: it is not to blame.
        assert!(matches!(record.trials[0].outcome, Some(Outcome::Broken { .. })), "{outcome}");
        assert!(outcome.contains(words) && !outcome.contains("hush"), "{outcome}");
    }
}

#[test]
fn probe_says_what_was_found() {
    for watsonx in ["api: v1", "api: v2, threads: server"] {
        let server = Server::start(answer);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.yml"), job(&server.address, watsonx, "")).unwrap();
        let output = eval_job(folder.path()).args(["probe", "job.yml"]).output().unwrap();
        let page = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
        for line in [
            "transport       watsonx",
            "it can          answer messages, stream its replies, report function calls",
            "authenticated   not refused",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }
}
