//! watsonx Orchestrate's two APIs.

use serde_json::{Value, json};

use super::super::wire::{Form, Wire};
use super::{halves, path};
use crate::edges::server::{Answer, Received};

const THREAD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// v1: a run's events, one a line.
pub fn runs() -> Wire {
    Wire {
        name: "watsonx v1",
        target: |url| json!({"watsonx": {"baseUrl": url, "agent": "helper"}}),
        before,
        form: Form::Lines,
        says: |text| {
            let event = |name: &str, mut data: Value| {
                data["thread_id"] = THREAD.into();
                format!("{}\n", json!({"event": name, "data": data}))
            };
            let content = |text: &str| json!([{"response_type": "text", "text": text}]);
            let piece =
                |text| event("message.delta", json!({"delta": {"role": "assistant", "content": content(text)}}));
            let whole = json!({"message": {"role": "assistant", "content": content(text)}});
            let ends = [event("message.created", whole), event("run.completed", json!({}))];
            [halves(text).map(piece).concat(), ends.concat()].concat()
        },
        reports: Some(
            "{\"event\": \"run.failed\", \"data\": {\"last_error\": {\"message\": \"out of order hush-key\"}}}\n",
        ),
        heard: "/message/content",
    }
}

/// v2: a turn's frames.
pub fn completions() -> Wire {
    Wire {
        name: "watsonx v2",
        target: |url| json!({"watsonx": {"baseUrl": url, "agent": "helper", "api": "v2"}}),
        before,
        form: Form::Events,
        says: |text| {
            let piece = |text: &str| {
                let choices = json!([{"delta": {"role": "assistant", "content": text}}]);
                json!({"object": "thread.message.delta", "thread_id": THREAD, "choices": choices})
            };
            let content = json!([{"response_type": "text", "text": text}]);
            let whole = json!({"object": "thread.message.completed", "thread_id": THREAD,
                               "data": {"message": {"role": "assistant", "content": content}}});
            format!("{}data: {whole}\n\n", super::events(text, piece))
        },
        reports: Some(
            "data: {\"object\": \"error\", \"choices\": [{\"delta\": {\"content\": \"out of order hush-key\"}}]}\n\n",
        ),
        heard: "/messages/-/content",
    }
}

/// The list of agents, and a thread in which nothing stands.
fn before(request: &Received) -> Option<Answer> {
    let agents = json!([{"id": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "name": "helper"}]);
    path(request, "/agents", agents).or_else(|| path(request, "/messages", json!([])))
}
