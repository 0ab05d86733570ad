//! Every transport over HTTP: one row each.

mod responses;
mod trpc;
mod watsonx;

use eval_job::agent::a2a::{A2aAgent, A2aSettings};
use eval_job::agent::adk::{AdkAgent, AdkServer, AdkSettings};
use eval_job::agent::embabel::{EmbabelAgent, EmbabelSettings};
use eval_job::agent::freeform::Known;
use eval_job::agent::http::{HttpAgent, HttpAgentSettings};
use eval_job::agent::openai::{OpenAiAgent, OpenAiAgentSettings};
use eval_job::agent::{Agent, RestSettings};
use eval_job::clock::Clock;
use eval_job::http::HttpClient;
use eval_job::secret::Secret;
use serde_json::{Map, Value, json};

use super::wire::{Connect, Form, Limits, Wire};
use crate::edges::server::{Answer, Received};

type Target = fn(&str) -> Value;

/// Every transport over HTTP, in each way in which a reply can come.
pub fn wires() -> Vec<Wire> {
    vec![
        Wire {
            name: "embabel",
            target: |url| json!({"embabel": {"baseUrl": url}}),
            agent: embabel,
            before: |request| path(request, "/sessions", json!({"sessionId": "s"})),
            form: Form::Document,
            says: |text| json!({"sessionId": "s", "message": {"content": text, "role": "assistant"}}).to_string(),
            reports: None,
            heard: "/message/content",
        },
        Wire {
            name: "openai",
            target: |url| json!({"openai": {"baseUrl": format!("{url}/v1")}}),
            agent: openai,
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
            ..adk(
                "adk",
                |url| json!({"adk": {"baseUrl": url, "app": "app"}}),
                |url, limits| adk_agent(url, limits, AdkServer::ApiServer, false),
            )
        },
        adk(
            "adk streaming",
            |url| json!({"adk": {"baseUrl": url, "app": "app", "streaming": true}}),
            |url, limits| adk_agent(url, limits, AdkServer::ApiServer, true),
        ),
        Wire {
            form: Form::Document,
            says: |text| result(text).to_string(),
            reports: Some(REPORTED_BY_A2A),
            ..a2a(
                "a2a",
                |url, limits| a2a_agent(url, limits, false),
                |url| json!({"a2a": {"baseUrl": url, "streaming": false}}),
            )
        },
        a2a("a2a streaming", |url, limits| a2a_agent(url, limits, true), |url| json!({"a2a": {"baseUrl": url}})),
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

fn embabel(url: &str, limits: Limits) -> Box<dyn Agent> {
    let settings = EmbabelSettings {
        base_url: url.to_owned(),
        path: "/api/v1/chat".to_owned(),
        api_key: Some(Secret::new("hush-key")),
        knowledge: None,
        user: "ann".to_owned(),
        chatbot: "helper".to_owned(),
        model: "m".to_owned(),
        turn_limit: limits.turn,
        rng_seed: 1,
        clock: Clock::system(),
        retry: limits.policy(),
        place: eval_job::limiter::Place::default(),
    };
    Box::new(EmbabelAgent::new(settings, HttpClient::new()).unwrap())
}

fn openai(url: &str, limits: Limits) -> Box<dyn Agent> {
    let settings = OpenAiAgentSettings {
        config: serde_json::from_value(json!({"baseUrl": format!("{url}/v1")})).unwrap(),
        model: "m".to_owned(),
        rest: limits.rest(),
    };
    Box::new(OpenAiAgent::new(settings, HttpClient::new()).unwrap())
}

fn http(name: &'static str, stream: &'static str, form: Form, says: fn(&str) -> String) -> Wire {
    let (target, agent): (Target, Connect) = match stream {
        "json" => (|url| say(url, "json"), |url, limits| http_agent(url, limits, "json")),
        "sse" => (|url| say(url, "sse"), |url, limits| http_agent(url, limits, "sse")),
        _ => (|url| say(url, "ndjson"), |url, limits| http_agent(url, limits, "ndjson")),
    };
    Wire { name, target, agent, before: |_| None, form, says, reports: None, heard: "/text" }
}

fn say(url: &str, stream: &str) -> Value {
    json!({"http": {"say": {
        "url": format!("{url}/say"), "headers": {"Authorization": "Bearer hush-key"},
        "body": {"text": "{{ message }}"}, "reply": "$.word", "stream": stream,
    }}})
}

fn http_agent(url: &str, limits: Limits, stream: &str) -> Box<dyn Agent> {
    let settings = HttpAgentSettings {
        config: serde_json::from_value(say(url, stream)["http"].take()).unwrap(),
        known: Known { base_url: None, user: "ann".to_owned(), chatbot: "helper".to_owned(), model: "m".to_owned() },
        rest: RestSettings { api_key: None, headers: Vec::new(), ..limits.rest() },
        looked_at: Vec::new(),
    };
    Box::new(HttpAgent::new(settings, HttpClient::new()).unwrap())
}

fn adk(name: &'static str, target: Target, agent: Connect) -> Wire {
    Wire {
        name,
        target,
        agent,
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

fn adk_agent(url: &str, limits: Limits, server: AdkServer, streaming: bool) -> Box<dyn Agent> {
    let (app, user) = ("app".to_owned(), "ann".to_owned());
    let state = Map::new();
    let settings = AdkSettings { base_url: url.to_owned(), app, user, state, streaming, server, rest: limits.rest() };
    Box::new(AdkAgent::new(settings, HttpClient::new()).unwrap())
}

const REPORTED_BY_A2A: &str = r#"{"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "out of order"}}"#;

fn result(text: &str) -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "contextId": "c", "parts": [{"text": text}]});
    json!({"jsonrpc": "2.0", "id": "1", "result": {"message": message}})
}

fn a2a(name: &'static str, agent: fn(&str, Limits) -> Box<dyn Agent>, target: Target) -> Wire {
    Wire {
        name,
        target,
        agent,
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

fn a2a_agent(url: &str, limits: Limits, streaming: bool) -> Box<dyn Agent> {
    let settings =
        A2aSettings { base_url: url.to_owned(), streaming: Some(streaming), user: None, rest: limits.rest() };
    Box::new(A2aAgent::new(settings, HttpClient::new()).unwrap())
}
