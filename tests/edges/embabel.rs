//! Embabel's protocol against an agent that misbehaves: what is sent again, what is told, what is said.

use std::time::Duration;

use eval_job::agent::AgentErrorKind::{BadReply, BeyondLimit, NotFound, Status, Unauthorized, Unreachable, Unreadable};
use eval_job::agent::embabel::{EmbabelConfig, KnowledgeConfig};
use eval_job::agent::{AgentErrorKind, Attempts, Session, Transport};
use eval_job::evidence::EventKind;
use serde_json::json;

use super::server::{Answer, Server};
use crate::servers::client::{Client, Exchange, Talk, context};

const GOOD: &str = r#"{"sessionId":"s 1/2","chatbot":"helper","message":{"content":"Hello!","role":"assistant"},
    "history":[],"events":[{"output":"ok"}]}"#;

fn settings(url: &str) -> Client<EmbabelConfig> {
    let mut client = Client::new(json!({"baseUrl": url}));
    client.context.model = "gpt-4.1-mini".to_owned();
    client
}

/// A server that opens sessions and gives these answers to everything else, the last one for ever.
async fn talking(answers: Vec<Answer>) -> Server {
    Server::start(move |number, request| {
        if request.target.ends_with("/sessions") {
            return Answer::json(200, r#"{"sessionId":"s 1/2"}"#);
        }
        answers[(number - 1).min(answers.len() - 1)].clone()
    })
    .await
}

async fn session(settings: Client<EmbabelConfig>) -> Box<dyn Session> {
    settings.session().await
}

#[tokio::test]
async fn the_three_calls_are_the_protocols() {
    let context = r#"{"context":"c","resources":[{"id":"1","name":"Bob","labels":["DomainNode"]}],"functions":[]}"#;
    let server = talking(vec![Answer::json(200, GOOD), Answer::json(200, context)]).await;
    let mut session = session(settings(&format!("{}/", server.url))).await;
    assert_eq!(session.id(), "s 1/2");
    let Exchange { reply, attempts: Attempts { failures, maybe_delivered } } = session.talk("Hi").await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), failures.len(), maybe_delivered), ("Hello!", 0, false));
    assert_eq!(reply.events, [EventKind::FunctionResponse { output: json!("ok").into() }.into()]);
    assert_eq!(session.object_context().await.unwrap().entities().count(), 1);

    let calls: Vec<(String, String, String)> =
        server.received().into_iter().map(|request| (request.method, request.target, request.body)).collect();
    let call = |method: &str, target: &str, body: &str| (method.to_owned(), target.to_owned(), body.to_owned());
    assert_eq!(
        calls,
        [
            call("PUT", "/api/v1/chat/sessions", r#"{"user":"ann","chatbot":"helper"}"#),
            call(
                "PUT",
                "/api/v1/chat/messages",
                r#"{"sessionId":"s 1/2","message":{"content":"Hi","role":"user"},"model":"gpt-4.1-mini"}"#
            ),
            call("GET", "/api/v1/chat/objectContexts/s%201%2F2", ""),
        ]
    );
    for request in server.received() {
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("x-api-key"), Some("hush-key"));
    }
}

#[tokio::test]
async fn without_a_key_no_key_is_sent() {
    let server = talking(vec![Answer::json(200, GOOD)]).await;
    let mut keyless = settings(&server.url);
    keyless.context.api_key = None;
    session(keyless).await;
    assert_eq!(server.received()[0].header("x-api-key"), None);
}

/// One way to misbehave to the end that `transports/contract` has not, and what must come of it.
struct Case {
    answer: Answer,
    /// How often the message arrives.
    arrives: usize,
    kind: AgentErrorKind,
    maybe_received: bool,
    words: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |answer, arrives, kind, maybe_received, words| Case { answer, arrives, kind, maybe_received, words };
    vec![
        case(Answer::json(408, ""), 1, Status(408), false, "answered 408 Request Timeout"),
        case(Answer::json(422, ""), 1, Status(422), false, "answered 422 Unprocessable Entity"),
        case(Answer::json(502, ""), 4, Status(502), true, "answered 502 Bad Gateway"),
        case(Answer::json(504, ""), 4, Status(504), true, "answered 504 Gateway Timeout"),
        case(Answer::json(200, "[]"), 4, Unreadable, true, "the reply is JSON, but no object"),
        case(Answer::json(200, "null"), 4, Unreadable, true, "the reply is JSON, but no object"),
        case(Answer::json(200, "{}"), 4, Unreadable, true, "the reply holds no message.content"),
        case(
            Answer::Stall { declared: 50 << 20, body: vec![] },
            1,
            BeyondLimit,
            true,
            "the reply is longer than 8 MiB",
        ),
    ]
}

#[tokio::test]
async fn each_failure_is_tried_told_and_worded_as_it_should_be() {
    for Case { answer, arrives, kind, maybe_received, words } in cases() {
        let what = format!("{answer:.60?}");
        let server = talking(vec![answer]).await;
        let mut session = session(settings(&server.url)).await;
        let exchange = session.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{what}");
        assert!(error.message.starts_with(&format!("PUT {}/api/v1/chat/messages: ", server.url)), "{what}: {error}");
        assert!(error.message.contains(words), "{what}: {error}");
        assert!(!error.message.contains("hush-key"), "{what}: {error}");
        assert_eq!(server.count("/messages"), arrives, "{what}");
        assert_eq!(exchange.attempts.failures.len(), arrives, "{what}");
        for failed in &exchange.attempts.failures {
            assert_eq!(failed.maybe_received, maybe_received, "{what}");
            assert_eq!(failed.error, error.message, "{what}");
        }
        assert_eq!(exchange.attempts.maybe_delivered, maybe_received && arrives > 1, "{what}");
    }
}

#[tokio::test]
async fn a_last_try_that_may_have_arrived_is_no_second_delivery() {
    let server = talking(vec![Answer::json(503, ""), Answer::Close, Answer::json(400, "")]).await;
    let exchange = session(settings(&server.url)).await.talk("Hi").await;
    assert_eq!(exchange.attempts.failures.len(), 3);
    assert!(exchange.attempts.maybe_delivered, "the broken try was sent again");

    let server = talking(vec![Answer::Close]).await;
    let mut once = settings(&server.url);
    once.context.retry.tries = 1;
    let exchange = session(once).await.talk("Hi").await;
    assert_eq!((exchange.attempts.failures.len(), exchange.attempts.maybe_delivered), (1, false));
    assert!(exchange.attempts.failures[0].maybe_received);
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_says_why() {
    let refusing = Server::refusing().await;
    let error = settings(&refusing).open().await.err().unwrap();
    assert_eq!(error.kind, Unreachable);
    assert_eq!(
        error.message,
        format!(
            "PUT {refusing}/api/v1/chat/sessions: no connection: it was refused; nothing listens there; is the agent \
             running? target.embabel.baseUrl says where it is looked for"
        )
    );
    for (answer, tries, kind, words) in [
        (Answer::json(401, ""), 1, Unauthorized, "EVAL_JOB_AGENT_API_KEY"),
        (Answer::json(404, ""), 1, NotFound, "check target.embabel.baseUrl and target.embabel.path"),
        (Answer::json(500, ""), 4, Status(500), "answered 500"),
        (Answer::json(200, "{}"), 4, Unreadable, "the reply holds no sessionId"),
        (Answer::json(200, r#"{"sessionId":".."}"#), 4, Unreadable, "can't stand in an address"),
        (Answer::of_type(200, "text/html", "<html>"), 4, Unreadable, "answered text/html instead of JSON"),
    ] {
        let server = Server::with(vec![answer]).await;
        let error = settings(&server.url).open().await.err().unwrap();
        assert_eq!(error.kind, kind);
        assert!(error.message.contains(words), "{error}");
        assert_eq!(server.received().len(), tries, "{error}");
    }
}

#[tokio::test]
async fn an_agent_that_comes_up_late_is_reached() {
    let server =
        Server::with(vec![Answer::json(503, ""), Answer::Close, Answer::json(200, r#"{"sessionId":7}"#)]).await;
    assert_eq!(session(settings(&server.url)).await.id(), "7");
}

#[tokio::test]
async fn an_agent_without_a_state_to_show_is_told_apart_from_a_broken_one() {
    for (answer, kind) in [
        (Answer::json(404, ""), NotFound),
        (Answer::json(500, ""), Status(500)),
        (Answer::json(200, r#"{"resources":"none"}"#), Unreadable),
    ] {
        let server = talking(vec![answer]).await;
        let error = session(settings(&server.url)).await.object_context().await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
    }
}

#[tokio::test]
async fn the_knowledge_context_is_created_where_one_is_named() {
    let knowledge = |url: &str| KnowledgeConfig {
        name: "memory".to_owned(),
        description: "d".to_owned(),
        schema_name: None,
        id: Some("m-1".to_owned()),
        base_url: Some(url.to_owned()),
        api_key: None,
    };
    for (answer, fine) in
        [(Answer::json(201, ""), true), (Answer::json(409, "exists"), true), (Answer::json(400, "bad name"), false)]
    {
        let server = Server::with(vec![answer]).await;
        let mut settings = settings("http://127.0.0.1:1");
        settings.config.knowledge = Some(knowledge(&server.url));
        assert_eq!(settings.agent().prepare_memory().await.is_ok(), fine);
        let request = &server.received()[0];
        assert_eq!((request.method.as_str(), request.target.as_str()), ("PUT", "/api/v1/graphs"));
        assert_eq!(request.body, r#"{"name":"memory","description":"d","schemaName":"personal","id":"m-1"}"#);
    }
    settings("http://127.0.0.1:1").agent().prepare_memory().await.expect("nothing to create, nothing sent");
}

#[tokio::test]
async fn a_dropped_call_drops_its_connection() {
    let server = talking(vec![Answer::Hang]).await;
    let mut session = session(settings(&server.url)).await;
    let waiting = tokio::time::timeout(Duration::from_millis(50), session.talk("Hi")).await;
    assert!(waiting.is_err());
    tokio::time::timeout(Duration::from_secs(10), server.client_left()).await.expect("the connection is closed");
    assert_eq!(server.count("/messages"), 1);
}

#[test]
fn an_address_that_cannot_work_is_refused_before_anything_is_sent() {
    let config = serde_json::from_value::<EmbabelConfig>(json!({"baseUrl": "localhost:8081"})).unwrap();
    let error = config.connect(context()).err().unwrap();
    assert!(error.message.starts_with("target.embabel.baseUrl: the address must start with http://"), "{error}");
}

#[tokio::test]
async fn a_reply_of_another_session_or_another_role_is_not_taken() {
    for (reply, words) in [
        (GOOD.replace("s 1/2", "s 2"), "the reply belongs to another session (\"s 2\" instead of \"s 1/2\")"),
        (GOOD.replace("\"assistant\"", "\"user\""), "the reply is no message of the agent's: its role is user"),
    ] {
        let server = talking(vec![Answer::json(200, reply)]).await;
        let exchange = session(settings(&server.url)).await.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!((error.kind, exchange.attempts.failures.len()), (BadReply, 1), "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}
