//! trpc-agent-go's two servers.

use eval_job::agent::adk::AdkServer;
use eval_job::agent::trpc::{TrpcAgent, TrpcSettings};
use eval_job::http::HttpClient;
use serde_json::{Map, json};

use super::super::wire::{Form, Wire};
use super::{adk, adk_agent, events};

pub fn agent() -> Wire {
    Wire {
        name: "trpc agent",
        target: |url| json!({"trpc": {"baseUrl": url, "app": "app"}}),
        agent: |url, limits| {
            let (app, user, base_url) = ("app".to_owned(), "ann".to_owned(), url.to_owned());
            let settings = TrpcSettings { base_url, app, user, runtime_state: Map::new(), rest: limits.rest() };
            Box::new(TrpcAgent::new(settings, HttpClient::new()).unwrap())
        },
        before: |_| None,
        form: Form::Document,
        says: |text| {
            let choices = json!([{"index": 0, "message": {"role": "assistant", "content": text}}]);
            let event = json!({"author": "a", "object": "runner.completion", "done": true, "choices": choices});
            json!({"status": "completed", "events": [event]}).to_string()
        },
        reports: Some(r#"{"status": "failed", "messages": [], "errorMessage": "out of order hush-key"}"#),
        heard: "/input/content",
    }
}

/// Its stream has nothing but pieces.
pub fn debug() -> Wire {
    Wire {
        says: |text| {
            let piece = |text: &str| {
                let content = json!({"role": "assistant", "parts": [{"text": text}]});
                json!({"author": "a", "object": "chat.completion.chunk", "partial": true, "content": content})
            };
            events(text, piece)
        },
        ..adk(
            "trpc debug",
            |url| json!({"trpc": {"baseUrl": url, "app": "app", "server": "debug", "streaming": true}}),
            |url, limits| adk_agent(url, limits, AdkServer::TrpcDebug, true),
        )
    }
}
