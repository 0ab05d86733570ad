//! The same faults from a WebSocket: of the handshake, which is tried again, and of the frames after it, which are not.

use std::time::Duration;

use serde_json::{Value, json};

use super::faults::Fault;
use super::outcome::Outcome;
use super::wire::{Limits, connect};
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::servers::client::Talk;
use crate::servers::websocket::{Do, Peer};

/// What is under `target` in a job, beside `user` and `chatbot`, for a server at this address.
pub fn target(url: &str) -> Value {
    json!({"websocket": {
        "url": format!("{url}/talk"), "headers": {"Authorization": "Bearer hush-key"}, "say": {"text": "{{ message }}"},
        "reply": {"delta": "$.delta", "error": "$.oops", "done": {"path": "$.end"}},
    }})
}

/// The frames of a reply.
pub fn says(text: &str) -> Vec<Do> {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    vec![piece(first), piece(rest), Do::Send(json!({"end": true}).to_string())]
}

fn piece(text: &str) -> Do {
    Do::Send(json!({"delta": text}).to_string())
}

/// What answers a message; `None` where it is the handshake that goes wrong.
fn frames(fault: &str) -> Option<Vec<Do>> {
    let text = |text: &str| Do::Send(text.to_owned());
    Some(match fault {
        "none" => says("Hello"),
        "silence" => vec![],
        "silence in mid-body" => vec![piece("Hel")],
        "closed without a word" => vec![Do::Drop],
        "cut in mid-body" => vec![piece("Hel"), Do::Drop],
        "ends in mid-JSON" => vec![piece("Hel"), text("{\"delta\": ")],
        "no JSON" => vec![text("nope hush-key")],
        "invalid UTF-8" => vec![Do::AsText(b"{\"delta\": \"H\xffllo\"}".to_vec())],
        "empty body" => vec![text("")],
        "empty text" => says(" \n"),
        "in-band error" => vec![piece("Hel"), text("{\"oops\": \"out of order hush-key\"}")],
        "endless" => vec![Do::Endless(json!({"delta": "x".repeat(1 << 20)}).to_string())],
        "10 MB at once" => says(&"x".repeat(10 << 20)),
        "a text that steers a terminal" => says("\u{1b}[2J\u{202e}Hi"),
        _ => return None,
    })
}

/// Whether it is after a message was said that a fault comes.
pub fn is_said(fault: &str) -> bool {
    frames(fault).is_some()
}

/// What the transport makes of a fault; `None` where it has no such thing.
pub async fn meet(fault: &Fault, silence: Duration) -> Option<Outcome> {
    let refusals = match fault.name {
        "429, then good" => vec![429],
        "503, then good" => vec![503],
        "500, then good" => vec![500],
        name if is_said(name) => vec![],
        _ => return refused(fault, silence).await,
    };
    let due = frames(fault.name).unwrap_or_else(|| says("Hello"));
    let is_later = !refusals.is_empty();
    let peer = Peer::answering(refusals, vec![], move |_, _| due.clone()).await;
    let mut session = connect(&target(&peer.url), limits(fault, silence)).open().await.unwrap();
    let exchange = session.talk("Hi").await;
    let arrived = if is_later { peer.handshakes() } else { peer.received().len() };
    Some(Outcome::of(exchange, arrived, &peer.url))
}

/// A handshake with a server that answers it as others answer a message.
async fn refused(fault: &Fault, silence: Duration) -> Option<Outcome> {
    let elsewhere = Server::with(vec![Answer::json(200, "")]).await;
    let answers = match fault.name {
        "nobody listens" => vec![],
        "redirect" => vec![Answer::json(307, "").with("location", &format!("{}/x", elsewhere.url))],
        "400"
        | "401"
        | "403"
        | "404"
        | "429 for ever"
        | "500 for ever"
        | "not HTTP"
        | "a web page"
        | "an error that steers a terminal" => (fault.answers)(&wires()[0]),
        _ => return None,
    };
    let is_there = !answers.is_empty();
    let server = Server::with(answers).await;
    let url = if is_there { server.url.clone() } else { Server::refusing().await };
    let url = url.replace("http:", "ws:");
    let error = connect(&target(&url), limits(fault, silence)).open().await.err().unwrap();
    assert_eq!(elsewhere.received().len(), 0, "somebody else was shown the key");
    Some(Outcome::unopened(&error, server.received().len(), &url))
}

fn limits(fault: &Fault, silence: Duration) -> Limits {
    let turn = if fault.name.contains("silence") { silence } else { Duration::from_secs(60) };
    Limits { turn, tries: 2 }
}
