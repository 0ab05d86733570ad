//! trpc-agent-go's two servers.

use serde_json::json;

use super::super::wire::{Form, Wire};
use super::{adk, events};

pub fn agent() -> Wire {
    Wire {
        name: "trpc agent",
        target: |url| json!({"trpc": {"baseUrl": url, "app": "app"}}),
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
        ..adk("trpc debug", |url| json!({"trpc": {"baseUrl": url, "app": "app", "server": "debug", "streaming": true}}))
    }
}
