//! Any agent behind a WebSocket, against servers that misbehave.

use std::time::Duration;

use eval_job::agent::AgentErrorKind::{BadReply, Busy, Cut, NotFound, Timeout, Unreachable, Unreadable};
use eval_job::agent::websocket::WebSocketConfig;
use eval_job::agent::{AgentError, AgentErrorKind, Session};
use eval_job::evidence::EventKind;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::servers::client::{Client, Talk};
use crate::servers::websocket::{Do, Peer};

fn send(frame: Value) -> Do {
    Do::Send(frame.to_string())
}

fn settings(config: Value) -> Client<WebSocketConfig> {
    Client::new(config)
}

async fn open(settings: Client<WebSocketConfig>) -> Result<Box<dyn Session>, AgentError> {
    settings.open().await
}

/// A job for JSON frames.
fn json_frames(url: &str) -> Value {
    json!({"url": format!("{url}/chat?user={{{{ user }}}}"), "headers": {"Authorization": "Bearer hush-key"},
           "say": {"say": "{{ message }}", "turn": "{{ turn }}"},
           "reply": {"delta": "$.delta", "events": "$.did", "usage": {"output": "$.tokens"}, "error": "$.oops",
                     "done": {"path": "$.type", "equals": "done"}}})
}

#[tokio::test]
async fn a_conversation_of_json_frames_with_greeting_session_and_pings() {
    let first = vec![
        send(json!({"type": "hello", "session": {"id": 7}})),
        send(json!({"delta": "Welcome, "})),
        send(json!({"delta": "Ann."})),
        send(json!({"type": "done"})),
    ];
    let answer = vec![
        Do::Ping,
        send(json!({"did": {"name": "look", "args": {"in": "shelf"}}})),
        send(json!({"delta": "Here "})),
        send(json!({"delta": "it is."})),
        send(json!({"type": "done", "tokens": 4})),
    ];
    let peer = Peer::start(first, vec![vec![], answer]).await;
    let mut config = json_frames(&peer.url);
    config["greeting"] = true.into();
    config["sessionId"] = "$.session.id".into();
    config["subprotocols"] = json!(["chat.v2", "chat.v1"]);
    config["open"] = json!([{"hello": "{{ user }}", "model": "{{ model }}"}]);
    let mut session = open(settings(config)).await.unwrap();
    assert_eq!(session.id(), "7");
    assert_eq!(session.greeting().await.unwrap().unwrap().text, "Welcome, Ann.");
    let reply = session.talk("Say \"hi\"\nplease").await.reply.unwrap();
    assert_eq!(reply.text, "Here it is.");
    assert!(matches!(&reply.events[0].kind, EventKind::FunctionCall(call) if call.function == "look"));
    assert_eq!(reply.usage.unwrap().output_tokens, Some(4));
    assert!(reply.first_token_ms.unwrap() <= reply.latency_ms);
    assert_eq!(session.talk("Again").await.reply.unwrap().text, "Here it is.");

    let received = peer.received();
    assert_eq!(received[0], r#"{"hello":"ann","model":"m"}"#);
    assert_eq!(received[1], r#"{"say":"Say \"hi\"\nplease","turn":1}"#);
    assert_eq!(peer.header("authorization").as_deref(), Some("Bearer hush-key"));
    assert_eq!(peer.header("sec-websocket-protocol").as_deref(), Some("chat.v2, chat.v1"));
    assert_eq!(peer.header(":path").as_deref(), Some("/chat?user=ann"));
    assert_eq!(session.object_context().await.unwrap_err().kind, NotFound);
}

#[tokio::test]
async fn plain_frames_are_replies_and_each_conversation_has_a_connection() {
    let peer = Peer::start(vec![], vec![vec![Do::Send("You said it.".to_owned())]]).await;
    let agent = settings(json!({"url": peer.url})).agent();
    let (mut one, mut other) = (agent.open().await.unwrap(), agent.open().await.unwrap());
    assert_ne!(one.id(), other.id());
    assert_eq!(one.greeting().await.unwrap(), None);
    for session in [&mut one, &mut other] {
        let reply = session.talk("Hello").await.reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.first_token_ms, reply.usage), ("You said it.", None, None));
    }
    assert_eq!(peer.received(), ["Hello", "Hello"]);
    drop(one);
    peer.goodbye.notified().await;
    assert_eq!(other.talk("Still there?").await.reply.unwrap().text, "You said it.");
}

#[tokio::test]
async fn pings_are_answered_while_nobody_speaks_and_a_leave_is_told_when_somebody_does() {
    let reply = || Do::Send("You said it.".to_owned());
    let peer = Peer::start(vec![], vec![vec![reply(), Do::Ping], vec![reply(), Do::Close(1001, "going away")]]).await;
    let mut session = open(settings(json!({"url": peer.url}))).await.unwrap();
    session.talk("Hello").await.reply.unwrap();
    peer.pong.notified().await;
    session.talk("And again").await.reply.unwrap();
    let error = session.talk("Still there?").await.reply.unwrap_err();
    assert!(error.message.contains("closed the connection before"), "{error}");
    assert!(error.message.contains("(code 1001, \"going away\")"), "{error}");
}

#[tokio::test]
async fn each_failure_is_told_and_ends_the_conversation() {
    let he = || send(json!({"delta": "He"}));
    let cases: Vec<(Vec<Do>, AgentErrorKind, &str)> = vec![
        (
            vec![he(), Do::Close(1011, "out of memory hush-key")],
            BadReply,
            "closed the connection in the middle of its reply (code 1011, \"out of memory ***\")",
        ),
        (vec![Do::Close(4001, "")], BadReply, "closed the connection before its reply came (code 4001)"),
        (vec![Do::Binary(vec![0, 255])], Unreadable, "a binary frame of 2 bytes came; only texts can be read"),
    ];
    for (answer, kind, words) in cases {
        let what = format!("{answer:.80?}");
        let peer = Peer::start(vec![], vec![answer]).await;
        let mut session = open(settings(json_frames(&peer.url))).await.unwrap();
        let exchange = session.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("hush"), "{what}: {error}");
        assert!(exchange.attempts.failures[0].maybe_received && exchange.attempts.failures.len() == 1, "{what}");
        let after = session.talk("And now?").await.reply.unwrap_err();
        assert!(after.message.starts_with("the connection was given up after a failure: "), "{what}: {after}");
        assert_eq!(peer.received().len(), 1, "{what}: nothing is said twice");
    }
}

#[tokio::test]
async fn a_refused_handshake_is_told_by_its_status() {
    let wrong =
        Answer::Raw(b"HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n");
    let cases: Vec<(Answer, usize, AgentErrorKind, &str)> = vec![
        (Answer::json(503, "").with("retry-after", "0"), 4, Busy, "answered 503"),
        (Answer::json(200, "{}"), 4, Unreadable, "no WebSocket is there"),
        (wrong, 4, Unreadable, "the handshake's answer is none to it"),
        (Answer::Close, 4, Cut, "the connection broke before a reply came"),
    ];
    for (answer, arrives, kind, words) in cases {
        let what = format!("{answer:.60?}");
        let server = Server::with(vec![answer]).await;
        let error = open(settings(json_frames(&server.url.replace("http:", "ws:")))).await.err().unwrap();
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("hush"), "{what}: {error}");
        assert_eq!(server.received().len(), arrives, "{what}");
    }

    let plain = Server::with(vec![Answer::Close]).await.url.replace("http:", "wss:");
    let error = open(settings(json_frames(&plain))).await.err().unwrap();
    assert!(error.kind == Unreachable && error.message.contains("TLS failed"), "{error}");

    let peer = Peer::start(vec![], vec![vec![]]).await;
    let mut config = json_frames(&peer.url);
    config["subprotocols"] = json!(["other.v1"]);
    let error = open(settings(config)).await.err().unwrap();
    assert!(error.message.contains("the server chose the subprotocol \"chat.v1\", which nobody offered"), "{error}");
}

#[tokio::test]
async fn silence_ends_at_the_time_limit() {
    let short = |config: Value| {
        let mut short = settings(config);
        short.context.turn_limit = Duration::from_millis(60);
        short
    };
    let peer = Peer::start(vec![], vec![vec![Do::Ping, send(json!({"delta": "He"}))]]).await;
    let exchange = open(short(json_frames(&peer.url))).await.unwrap().talk("Hi").await;
    let error = exchange.reply.unwrap_err();
    assert_eq!(error.kind, Unreadable, "words came, and no end of them");
    assert!(error.message.contains("the reply was not complete within 60ms"), "{error}");

    let peer = Peer::start(vec![], vec![vec![send(json!({"delta": ""}))]]).await;
    let exchange = open(short(json_frames(&peer.url))).await.unwrap().talk("Hi").await;
    let error = exchange.reply.unwrap_err();
    assert_eq!(error.kind, Timeout, "empty words are where they should be");
    assert!(error.message.ends_with("what came had empty text"), "{error}");

    let mut waits = json_frames(&peer.url);
    waits["greeting"] = true.into();
    let mut session = open(short(waits.clone())).await.unwrap();
    assert_eq!(session.greeting().await.unwrap_err().kind, Timeout);
    waits["sessionId"] = "$.id".into();
    let error = open(short(waits.clone())).await.err().unwrap();
    assert!(error.message.contains("no session id within 60ms"), "{error}");

    let server = Server::with(vec![Answer::Hang]).await;
    let error = open(short(json_frames(&server.url))).await.err().unwrap();
    assert!(error.kind == Timeout && error.message.contains("no answer to the handshake"), "{error}");
}

#[tokio::test]
async fn what_comes_between_two_messages_is_no_answer_to_the_second() {
    let late = || Do::Send("And by the way: we close at five.".to_owned());
    let answer = |text: &str| Do::Send(text.to_owned());
    let peer = Peer::start(
        vec![answer("Welcome, whoever you are."), Do::Ping],
        vec![vec![answer("First."), late(), late(), Do::Ping], vec![answer("Second.")]],
    )
    .await;
    let mut session = open(settings(json!({"url": peer.url}))).await.unwrap();
    peer.pong.notified().await;
    let first = session.talk("One").await.reply.unwrap();
    assert_eq!(first.text, "First.");
    let other = |data: Value| EventKind::Other { data };
    let kinds = |events: &[eval_job::evidence::Event]| events.iter().map(|it| it.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&first.events), [other(json!({"beforeFirstMessage": "Welcome, whoever you are."}))]);
    peer.pong.notified().await;
    let second = session.talk("Two").await.reply.unwrap();
    assert_eq!(second.text, "Second.");
    assert_eq!(kinds(&second.events), vec![other(json!({"afterReply": "And by the way: we close at five."})); 2]);
    assert_eq!(session.talk("Three").await.reply.unwrap().events, []);
}

#[tokio::test]
async fn a_greeting_that_nobody_asks_for_is_no_answer() {
    let hello = vec![send(json!({"delta": "Hello."})), send(json!({"type": "done"}))];
    let answer = vec![send(json!({"delta": "Yes."})), send(json!({"type": "done"}))];
    let peer = Peer::start(hello, vec![answer]).await;
    let mut config = json_frames(&peer.url);
    config["greeting"] = true.into();
    let reply = open(settings(config)).await.unwrap().talk("Really?").await.reply.unwrap();
    assert_eq!(reply.text, "Yes.");
}
