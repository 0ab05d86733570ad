//! trpc-agent-go's two servers. Its Go module can't be had where this was written, so a server on loopback answers as
//! `handleRuns` of server/trpcagent/server.go and `handleRun`, `handleRunSSE` of server/debug/server.go do.

use eval_job::agent::Agent;
use eval_job::agent::AgentErrorKind::{self, BadReply, Unreadable};
use eval_job::agent::trpc::TrpcConfig;
use eval_job::evidence::{EventKind, ToolCall};
use serde_json::{Value, json};

use super::run;
use crate::edges::server::{Answer, Server};
use crate::servers::client::{Client, Talk};
use crate::servers::http;

/// A job that talks in fixed lines.
fn job(url: &str, trpc: &str, more: &str) -> String {
    format!(
        "evaluator: {{script: [Please note the milk]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\nmaxTurns: 20\n\
         target: {{user: ann, chatbot: helper, trpc: {{baseUrl: '{url}', {trpc}}}}}\n{more}"
    )
}

const NOTES: &str = "assertions:\n  - expression: 'evaluation.functionCalls.count(|it| it.function == \"note\" && it.args.thing == \"milk\") == 1'\n";

fn choice(message: Value) -> Value {
    json!([{"index": 0, "message": message, "delta": {"role": ""}}])
}

/// One run of an agent that notes things, as the agent server's `events`.
fn events(said: &str) -> Value {
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17, "prompt_tokens_details": {"cached_tokens": 0}});
    let says = |object: &str, words: &str| {
        json!({"author": "helper", "object": object, "done": true, "is_partial": false, "usage": usage,
               "choices": choice(json!({"role": "assistant", "content": words}))})
    };
    if said == "Hello" {
        return json!([says("chat.completion", "You said: Hello"), says("runner.completion", "You said: Hello")]);
    }
    // {"thing":"milk"}
    let call =
        json!({"type": "function", "id": "c1", "function": {"name": "note", "arguments": "eyJ0aGluZyI6Im1pbGsifQ=="}});
    json!([
        {"author": "helper", "object": "chat.completion", "done": false, "is_partial": false, "usage": usage,
         "choices": choice(json!({"role": "assistant", "content": "One moment.", "tool_calls": [call]}))},
        {"author": "helper", "object": "tool.response", "done": false, "is_partial": false,
         "choices": choice(json!({"role": "tool", "content": "{\"count\":1}", "tool_id": "c1", "tool_name": "note"}))},
        says("chat.completion", "Noted: milk."),
        says("runner.completion", "Noted: milk."),
    ])
}

/// The same as the debug server's events, with streaming in pieces.
fn adk_events(said: &str, streaming: bool) -> Vec<Value> {
    let event = |object: &str, partial: bool, done: bool, parts: Value| {
        json!({"author": "helper", "invocationId": "i", "id": "r", "timestamp": 1_755_000_000, "object": object,
               "partial": partial, "done": done, "content": {"role": "assistant", "parts": parts},
               "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17}})
    };
    let says = |words: &str| match streaming {
        true => words
            .split_inclusive(' ')
            .map(|word| event("chat.completion.chunk", true, false, json!([{"text": word}])))
            .collect(),
        false => vec![event("chat.completion", false, true, json!([{"text": words}]))],
    };
    if said == "Hello" {
        return says("You said: Hello");
    }
    let call =
        json!([{"text": "One moment."}, {"functionCall": {"name": "note", "args": {"thing": "milk"}, "id": "c1"}}]);
    let result = json!([{"functionResponse": {"name": "note", "response": {"count": 1}, "id": "c1"}}]);
    let mut result = event("tool.response", false, false, result);
    result.as_object_mut().unwrap().remove("usageMetadata");
    let before = vec![event("chat.completion", false, false, call), result];
    [before, says("Noted: milk.")].concat()
}

fn answer(request: &http::Request) -> http::Reply {
    let body = request.json();
    if request.path == "/trpc-agent/v1/apps/helper/runs" {
        let said = body["input"]["content"].as_str().unwrap();
        return http::Reply::Json(
            200,
            json!({"status": "completed", "events": events(said), "messages": [body["input"]]}),
        );
    }
    if request.path == "/apps/helper/users/ann/sessions" {
        return http::Reply::Json(
            200,
            json!({"appName": "helper", "userId": "ann", "id": "s1", "state": {}, "events": []}),
        );
    }
    let streaming = body["streaming"] == true;
    let events = adk_events(body["newMessage"]["parts"][0]["text"].as_str().unwrap_or_default(), streaming);
    match (request.path.as_str(), streaming) {
        ("/run", false) => http::Reply::Json(200, json!(events)),
        ("/run_sse", _) => {
            let frames: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            http::Reply::Body(200, "text/event-stream", frames.into_bytes())
        }
        // The body is read already when the stream's handler reads it again.
        ("/run", true) => http::Reply::Body(400, "text/plain", b"EOF\n".to_vec()),
        _ => http::Reply::Body(404, "text/plain", b"404 page not found\n".to_vec()),
    }
}

#[test]
fn a_conversation_with_a_tool_is_held_on_each_server() {
    for (trpc, streams, calls) in [
        ("runtimeState: {city: Rome}", false, Some(2)),
        ("server: debug", false, Some(2)),
        ("server: debug, streaming: true", true, None),
    ] {
        let server = http::Server::start(answer);
        let timing = if streams { "timing: {on: firstToken}\naspirationalAverage: 60000\n" } else { "" };
        let (output, record) =
            run(&job(&server.address, trpc, &format!("{timing}{NOTES}")), &["--condition", "without-facts"]);
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
        let turns = &record.trials[0].evidence.as_ref().unwrap().transcript.turns;
        let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
        assert_eq!(said, ["You said: Hello", "Noted: milk."], "{trpc}");
        assert_eq!(
            turns[1].events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>(),
            [
                EventKind::Other { data: json!({"intermediate": "One moment.", "author": "helper"}) },
                EventKind::FunctionCall(ToolCall {
                    function: "note".to_owned(),
                    args: json!({"thing": "milk"}).into()
                }),
                EventKind::FunctionResponse { output: json!({"count": 1}).into() },
            ]
        );
        assert_eq!(turns[1].usage.map(|usage| usage.calls), calls, "{trpc}");
        assert!(turns.iter().all(|turn| turn.first_token_ms.is_some() == streams), "{trpc}");
        if !trpc.contains("debug") {
            let bodies: Vec<Value> = server.requests().iter().map(http::Request::json).collect();
            assert_eq!(bodies[0]["runOptions"], json!({"runtimeState": {"city": "Rome"}}));
            assert_eq!(bodies[0]["session"], bodies[1]["session"], "one session for the conversation");
            assert_eq!(bodies[0]["session"]["userId"], "ann");
        }
    }
}

fn agent(url: &str) -> Box<dyn Agent> {
    Client::<TrpcConfig>::new(json!({"baseUrl": url, "app": "my app", "headers": {"X-Tenant": "hush-tenant"}})).agent()
}

#[tokio::test]
async fn each_conversation_has_a_session_of_its_own() {
    let server =
        Server::with(vec![Answer::json(200, json!({"status": "completed", "events": events("Hello")}).to_string())])
            .await;
    let (first, second) = (agent(&server.url), agent(&server.url));
    let mut ids = Vec::new();
    for agent in [&first, &first, &second] {
        let mut session = agent.open().await.unwrap();
        session.talk("Hello").await.reply.unwrap();
        ids.push(session.id().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
    for request in server.received() {
        assert_eq!(request.target, "/trpc-agent/v1/apps/my%20app/runs");
        assert_eq!(request.header("authorization"), Some("Bearer hush-key"));
        assert_eq!(request.header("x-tenant"), Some("hush-tenant"));
    }
}

#[tokio::test]
async fn a_run_without_a_response_has_its_words_and_its_number_of_tries() {
    let cases: Vec<(Answer, usize, AgentErrorKind, &str)> = vec![
        (Answer::json(200, r#"{"status":"incomplete"}"#), 1, BadReply, "reported that the run is incomplete"),
        (Answer::json(200, r#"{"status":"completed","events":null}"#), 1, BadReply, "without a final response"),
        (Answer::json(200, "{}"), 4, Unreadable, "missing field `status`"),
    ];
    for (answer, arrives, kind, words) in cases {
        let server = Server::with(vec![answer.clone()]).await;
        let exchange = agent(&server.url).open().await.unwrap().talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!((error.kind, server.received().len()), (kind, arrives), "{answer:?}: {error}");
        assert!(error.message.contains(words), "{answer:?}: {error}");
        assert_eq!(exchange.attempts.failures.len(), arrives);
    }
}

#[test]
fn an_app_that_the_debug_server_does_not_know_is_named() {
    let server = http::Server::start(|request| match request.path.as_str() {
        "/run" => http::Reply::Body(400, "text/plain", b"agent not found\n".to_vec()),
        _ => http::Reply::Json(200, json!({"id": "s1"})),
    });
    let (_, record) = run(&job(&server.address, "server: debug", ""), &["--condition", "without-facts"]);
    let words = format!("{:?}", record.trials[0].outcome);
    assert!(words.contains("agent not found") && words.contains("target.trpc.app"), "{words}");
}
