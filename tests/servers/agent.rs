//! An agent that speaks Embabel's protocol, well or badly.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::http::{Reply, Request, Server, nobody};

/// Starts an agent that behaves like this and returns its address; see [`answer`] for the behaviours.
pub fn start(behaviour: &str) -> (Option<Server>, String) {
    if behaviour == "not-running" {
        return (None, nobody());
    }
    let behaviour = behaviour.to_owned();
    let (sessions, messages) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let spoken_to = Mutex::<HashSet<String>>::default();
    let handshake = match behaviour.as_str() {
        "self-signed" => Some(Duration::ZERO),
        "slow-handshake" => Some(Duration::from_millis(200)),
        _ => None,
    };
    let answer = move |request: &Request| {
        // The second message of all is answered only when it comes again.
        if behaviour == "stumbles"
            && request.path.ends_with("/messages")
            && messages.fetch_add(1, Ordering::SeqCst) == 1
        {
            return Reply::Json(500, json!({"error": "stumbled"}));
        }
        // Before the first word it has nothing at hand.
        let json = request.json();
        if let Some(session) = json["sessionId"].as_str() {
            spoken_to.lock().unwrap().insert(session.to_owned());
        }
        let is_spoken_to = || request.path.rsplit('/').next().is_some_and(|it| spoken_to.lock().unwrap().contains(it));
        match answer(&behaviour, request, &sessions) {
            Reply::Json(200, mut shown) if request.path.contains("/objectContexts/") && !is_spoken_to() => {
                shown["resources"] = json!([]);
                Reply::Json(200, shown)
            }
            reply => reply,
        }
    };
    let server = match handshake {
        Some(pause) => Server::start_tls(pause, answer),
        None => Server::start(answer),
    };
    let address = server.address.clone();
    (Some(server), address)
}

fn answer(behaviour: &str, request: &Request, sessions: &AtomicUsize) -> Reply {
    match request.path.as_str() {
        "/api/v1/chat/sessions" => match behaviour {
            "session-401" => Reply::Json(401, json!({"error": "who are you?"})),
            "session-404" => Reply::Json(404, json!({"error": "no such path"})),
            "session-500" => Reply::Json(500, json!({"error": "out of order"})),
            _ => {
                let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                Reply::Json(200, json!({"sessionId": format!("session-{number}")}))
            }
        },
        "/api/v1/chat/messages" => message(behaviour, request),
        path if path.starts_with("/api/v1/chat/objectContexts/") => match behaviour {
            "state-500" => Reply::Json(500, json!({"error": "out of order"})),
            "message-500" => Reply::Json(500, json!({"error": "out of order"})),
            _ => Reply::Json(200, object_context()),
        },
        "/v1/chat/completions" => completion(request),
        "/v1/responses" => response(request),
        "/v1/conversations" => Reply::Json(200, json!({"id": "conv_1", "object": "conversation"})),
        "/talks" => Reply::Json(201, json!({"talk": {"id": 7}})),
        "/talks/7/words" => words(request),
        _ => Reply::Json(404, json!({"error": "no such path"})),
    }
}

/// A streaming model behind chat completions; it calls `echo` before its first reply.
fn completion(request: &Request) -> Reply {
    let body = request.json();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let said =
        messages.iter().rev().find(|message| message["role"] == "user").map(|message| message["content"].clone());
    let call = json!({"index": 0, "id": "call-1", "function": {"name": "echo", "arguments": json!({"text": said}).to_string()}});
    let delta = if messages.last().is_some_and(|last| last["role"] == "tool") {
        json!({"content": format!("You said: {}", said.unwrap_or_default().as_str().unwrap_or_default())})
    } else {
        json!({"tool_calls": [call]})
    };
    let stream = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"index": 0, "delta": delta}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
    );
    Reply::Body(200, "text/event-stream", stream.into_bytes())
}

/// A model behind the Responses API, which keeps what was said; it calls `echo` before its first reply.
fn response(request: &Request) -> Reply {
    let body = request.json();
    let input = &body["input"][0];
    let stream = if input["type"] == "function_call_output" {
        // The id of the response before is what it has kept.
        let words = match (body["previous_response_id"].as_str(), body["conversation"].as_str()) {
            (Some(said), _) => format!("You said: {said}"),
            (None, conversation) => format!("You said it in {}", conversation.unwrap_or("nothing")),
        };
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": words}]});
        let delta = json!({"type": "response.output_text.delta", "delta": words});
        format!("data: {delta}\n\ndata: {}\n\n", completed("answered", &message))
    } else {
        let said = input["content"].as_str().unwrap_or_default();
        let arguments = json!({"text": said}).to_string();
        let call = json!({"type": "function_call", "call_id": "call-1", "name": "echo", "arguments": arguments});
        format!("data: {}\n\n", completed(said, &call))
    };
    Reply::Body(200, "text/event-stream", stream.into_bytes())
}

fn completed(id: &str, item: &serde_json::Value) -> serde_json::Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    json!({"type": "response.completed", "response": {"id": id, "status": "completed", "output": [item], "usage": usage}})
}

/// An agent of nobody's protocol: a line of JSON for each word.
fn words(request: &Request) -> Reply {
    let body = request.json();
    let said = body["say"].as_str().unwrap_or_default();
    let mut lines: String =
        format!("You said: {said}").split_inclusive(' ').map(|word| format!("{}\n", json!({"word": word}))).collect();
    let call = json!([{"name": "echo", "args": {"text": said}}]);
    lines.push_str(&format!("{}\n", json!({"did": call, "tokens": {"in": 3, "out": 4}})));
    Reply::Body(200, "application/x-ndjson", lines.into_bytes())
}

fn message(behaviour: &str, request: &Request) -> Reply {
    let body = request.json();
    let said = body["message"]["content"].as_str().unwrap_or_default().to_owned();
    let text = match behaviour {
        "fails-for-large" if body["model"] == "large" => return Reply::Json(500, json!({"error": "out of memory"})),
        "message-401" => return Reply::Json(401, json!({"error": "who are you?"})),
        "message-500" => return Reply::Json(500, json!({"error": "out of order"})),
        "html" => return Reply::Body(200, "text/html", b"<html><body>Please log in</body></html>".to_vec()),
        "half-json" => return Reply::CutOff("{\"sessionId\": \"session-1\", \"message\": {\"content\": \"He"),
        "invalid-utf8" => {
            return Reply::Body(200, "application/json", b"{\"message\": {\"content\": \"\xff\xfe\"}}".to_vec());
        }
        "huge" => return Reply::Endless(50 << 20),
        "silent" => return Reply::Silence,
        "other-key" => return Reply::Json(200, json!({"answer": "hi"})),
        "empty" => String::new(),
        "escapes" => format!("\u{1b}[2J\u{1b}[31mYou said: {said}\u{202e}"),
        "signoff" => "So Long, and Thanks for All the Fish! Anything else?".to_owned(),
        _ => format!("You said: {said}"),
    };
    Reply::Json(
        200,
        json!({
            "sessionId": body["sessionId"],
            "chatbot": "fake",
            "message": {"content": text, "role": "assistant"},
            "history": [],
            "events": [{"request": {"function": {"name": "echo"}, "arguments": {"text": said}, "context": "none"}}],
        }),
    )
}

fn object_context() -> serde_json::Value {
    json!({
        "context": "fake",
        "resources": [{"id": "1", "name": "thing", "description": "thing", "properties": {"colour": "red"},
                       "labels": ["Thing", "DomainNode"], "aliases": []}],
        "functions": [{"name": "echo", "description": "says it again", "inputTypeSchema": "{}"}],
    })
}
