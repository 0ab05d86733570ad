//! Every transport over HTTP: one row each.

mod responses;
mod trpc;
mod watsonx;

use serde_json::{Value, json};

use super::wire::{Form, Wire};
use crate::edges::server::{Answer, Received};

type Target = fn(&str) -> Value;

/// Every transport over HTTP, in each way in which a reply can come.
pub fn wires() -> Vec<Wire> {
    vec![
        Wire {
            name: "embabel",
            target: |url| json!({"embabel": {"baseUrl": url}}),
            before: |request| path(request, "/sessions", json!({"sessionId": "s"})),
            form: Form::Document,
            says: |text| json!({"sessionId": "s", "message": {"content": text, "role": "assistant"}}).to_string(),
            reports: None,
            heard: "/message/content",
        },
        Wire {
            name: "openai",
            target: |url| json!({"openai": {"baseUrl": format!("{url}/v1")}}),
            before: |_| None,
            form: Form::Events,
            says: |text| {
                let piece = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
                format!("{}data: [DONE]\n\n", events(text, piece))
            },
            reports: Some(
                "data: {\"error\": {\"message\": \"out of order hush-key\", \"code\": \"server_error\"}}\n\n",
            ),
            heard: "/messages/-/content",
        },
        http("http json", "json", Form::Document, |text| json!({"word": text}).to_string()),
        http("http sse", "sse", Form::Events, |text| events(text, |text| json!({"word": text}))),
        http("http ndjson", "ndjson", Form::Lines, |text| {
            halves(text).map(|text| format!("{}\n", json!({"word": text}))).concat()
        }),
        Wire {
            form: Form::Document,
            says: |text| json!([{"content": {"parts": [{"text": text}], "role": "model"}, "author": "a"}]).to_string(),
            ..adk("adk", |url| json!({"adk": {"baseUrl": url, "app": "app"}}))
        },
        adk("adk streaming", |url| json!({"adk": {"baseUrl": url, "app": "app", "streaming": true}})),
        Wire {
            form: Form::Document,
            says: |text| result(text).to_string(),
            reports: Some(REPORTED_BY_A2A),
            ..a2a("a2a", |url| json!({"a2a": {"baseUrl": url, "streaming": false}}))
        },
        a2a("a2a streaming", |url| json!({"a2a": {"baseUrl": url}})),
        responses::streaming(),
        trpc::agent(),
        trpc::debug(),
        watsonx::runs(),
        watsonx::completions(),
    ]
}

/// A reply to a request whose path ends like this.
fn path(request: &Received, end: &str, body: Value) -> Option<Answer> {
    request.target.ends_with(end).then(|| Answer::json(200, body.to_string()))
}

/// Its first character, and the rest.
fn halves(text: &str) -> [&str; 2] {
    text.split_at(text.chars().next().map_or(0, char::len_utf8)).into()
}

fn events(text: &str, event: impl Fn(&str) -> Value) -> String {
    halves(text).map(|text| format!("data: {}\n\n", event(text))).concat()
}

fn http(name: &'static str, stream: &'static str, form: Form, says: fn(&str) -> String) -> Wire {
    let target: Target = match stream {
        "json" => |url| say(url, "json"),
        "sse" => |url| say(url, "sse"),
        _ => |url| say(url, "ndjson"),
    };
    Wire { name, target, before: |_| None, form, says, reports: None, heard: "/text" }
}

fn say(url: &str, stream: &str) -> Value {
    json!({"http": {"say": {
        "url": format!("{url}/say"), "headers": {"Authorization": "Bearer hush-key"},
        "body": {"text": "{{ message }}"}, "reply": "$.word", "stream": stream,
    }}})
}

fn adk(name: &'static str, target: Target) -> Wire {
    Wire {
        name,
        target,
        before: |request| {
            let session = json!({"id": "s", "state": {}});
            path(request, "/sessions", session.clone())
                .or_else(|| path(request, "/sessions/s", session))
                .or_else(|| path(request, "/list-apps", json!(["app"])))
        },
        form: Form::Events,
        says: |text| {
            let event = |text: &str, partial: bool| json!({"content": {"parts": [{"text": text}], "role": "model"}, "partial": partial, "author": "a"});
            format!("data: {}\n\ndata: {}\n\n", event(halves(text)[0], true), event(text, false))
        },
        reports: None,
        heard: "/newMessage/parts/0/text",
    }
}

const REPORTED_BY_A2A: &str = r#"{"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "out of order"}}"#;

fn result(text: &str) -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "contextId": "c", "parts": [{"text": text}]});
    json!({"jsonrpc": "2.0", "id": "1", "result": {"message": message}})
}

fn a2a(name: &'static str, target: Target) -> Wire {
    Wire {
        name,
        target,
        before: |request| {
            // The host that the client came from is the only one that a server knows.
            let url = format!("http://{}/rpc", request.header("host").unwrap());
            let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
            let card = json!({"supportedInterfaces": [interface], "capabilities": {"streaming": true}});
            path(request, "/agent-card.json", card)
        },
        form: Form::Events,
        says: |text| format!("data: {}\n\n", result(text)),
        reports: Some("data: {\"error\": {\"code\": -32603, \"message\": \"out of order hush-key\"}}\n\n"),
        heard: "/params/message/parts/0/text",
    }
}
