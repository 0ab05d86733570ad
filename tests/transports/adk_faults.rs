//! ADK's client against a server that misbehaves: what is sent, what is sent again, what is said.

use eval_job::agent::AgentErrorKind::{BadReply, NotFound, Status, Unreadable};
use eval_job::agent::adk::AdkConfig;
use eval_job::agent::{AgentErrorKind, Session};
use serde_json::json;

use crate::edges::server::{Answer, Server};
use crate::servers::client::{Client, Talk};

const WORDS: &str = include_str!("../fixtures/adk/run-words.json");
const STREAM: &str = include_str!("../fixtures/adk/sse-words.txt");
const SESSION: &str = r#"{"id":"s 1/2","state":{"city":"Rome"}}"#;

fn settings(url: &str, streaming: bool) -> Client<AdkConfig> {
    Client::new(
        json!({"baseUrl": url, "app": "my app", "streaming": streaming, "headers": {"X-Tenant": "hush-tenant"}}),
    )
}

async fn open(settings: Client<AdkConfig>) -> Box<dyn Session> {
    settings.session().await
}

/// A server that opens sessions and gives these answers to everything else, the last one for ever.
async fn talking(answers: Vec<Answer>) -> Server {
    Server::start(move |number, request| {
        if request.target.ends_with("/sessions") {
            return Answer::json(200, SESSION);
        }
        answers[(number - 1).min(answers.len() - 1)].clone()
    })
    .await
}

#[tokio::test]
async fn the_calls_are_the_servers() {
    let server = talking(vec![Answer::json(200, WORDS), Answer::json(200, SESSION)]).await;
    let mut session = open(settings(&server.url, false)).await;
    assert_eq!(session.id(), "s 1/2");
    let exchange = session.talk("Hi \"there\"").await;
    assert_eq!(exchange.reply.unwrap().text, "You said: Hello");
    assert_eq!(session.object_context().await.unwrap().context, json!({"city": "Rome"}));
    let calls: Vec<_> = server.received().into_iter().map(|r| (r.method, r.target, r.body)).collect();
    let call = |method: &str, target: &str, body: &str| (method.to_owned(), target.to_owned(), body.to_owned());
    assert_eq!(
        calls,
        [
            call("POST", "/apps/my%20app/users/ann/sessions", ""),
            call(
                "POST",
                "/run",
                r#"{"appName":"my app","userId":"ann","sessionId":"s 1/2","newMessage":{"role":"user","parts":[{"text":"Hi \"there\""}]},"streaming":false}"#
            ),
            call("GET", "/apps/my%20app/users/ann/sessions/s%201%2F2", ""),
        ]
    );
    for request in server.received() {
        assert_eq!(request.header("authorization"), Some("Bearer hush-key"));
        assert_eq!(request.header("x-tenant"), Some("hush-tenant"));
    }
}

#[tokio::test]
async fn a_header_of_the_users_own_stands_in_for_the_key() {
    let server = talking(vec![Answer::json(200, WORDS)]).await;
    let mut settings = settings(&server.url, false);
    settings.config.headers = [("Authorization".to_owned(), "Basic abc".to_owned())].into();
    open(settings).await;
    assert_eq!(server.received()[0].header("authorization"), Some("Basic abc"));
}

#[tokio::test]
async fn an_older_server_gets_the_raw_state() {
    let server = Server::with(vec![
        Answer::json(200, r#"{"id":"one","state":{"state":{"city":"Rome"}}}"#),
        Answer::json(200, r#"{"id":"two","state":{"city":"Rome"}}"#),
    ])
    .await;
    let state = json!({"city": "Rome"}).as_object().unwrap().clone();
    let mut with_state = settings(&server.url, false);
    with_state.config.state = state;
    let session = open(with_state).await;
    assert_eq!(session.id(), "two");
    let bodies: Vec<String> = server.received().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [r#"{"state":{"city":"Rome"}}"#, r#"{"city":"Rome"}"#]);
}

#[tokio::test]
async fn a_stream_is_timed_from_its_first_words() {
    let server = talking(vec![Answer::of_type(200, "text/event-stream; charset=utf-8", STREAM)]).await;
    let reply = open(settings(&server.url, true)).await.talk("Hi").await.reply.unwrap();
    assert_eq!(reply.text, "You said: Hello there");
    assert!(reply.first_token_ms.unwrap() <= reply.latency_ms);
    assert_eq!(server.received()[1].target, "/run_sse");
    assert_eq!(server.received()[1].header("accept"), Some("text/event-stream"));
}

#[tokio::test]
async fn each_misbehaviour_has_its_words_and_its_number_of_tries() {
    let sse = |body: &str| Answer::of_type(200, "text/event-stream", body);
    let cut_event = &STREAM[..STREAM.len() - 90];
    let reported = include_str!("../fixtures/adk/sse-broken.txt");
    let gone = include_str!("../fixtures/adk/no-session.json");
    let cases: Vec<(bool, Answer, usize, AgentErrorKind, &str)> = vec![
        (false, Answer::json(404, gone), 1, NotFound, "the agent has forgotten the session in mid-conversation"),
        (true, Answer::json(404, gone), 1, NotFound, "the agent has forgotten the session in mid-conversation"),
        (false, Answer::json(422, "{}"), 1, Status(422), "answered 422"),
        (false, Answer::json(200, "{}"), 4, Unreadable, "is no list of events"),
        (false, Answer::json(200, "[5]"), 4, Unreadable, "the events can't be read"),
        (false, Answer::json(200, "[]"), 1, BadReply, "ended without a final response"),
        (true, sse(cut_event), 4, BadReply, "an event of the stream stops in the middle of its JSON"),
        (true, sse(": ping\n\n"), 1, BadReply, "ended without a final response"),
        (true, sse(reported), 1, BadReply, "RuntimeError: the model is out of order"),
    ];
    for (streaming, answer, arrives, kind, words) in cases {
        let server = talking(vec![answer.clone()]).await;
        let exchange = open(settings(&server.url, streaming)).await.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!((error.kind, server.received().len() - 1), (kind, arrives), "{answer:?}: {error}");
        assert!(error.message.contains(words), "{answer:?}: {error}");
        assert!(!error.message.contains("hush"), "{error}");
        assert_eq!(exchange.attempts.failures.len(), arrives);
    }
}

#[tokio::test]
async fn a_session_without_a_usable_id_is_none() {
    for body in ["{}", r#"{"id":""}"#, r#"{"id":".."}"#, r#"{"id":7}"#] {
        let server = Server::with(vec![Answer::json(200, body)]).await;
        let agent = settings(&server.url, false).agent();
        assert_eq!(agent.open().await.err().unwrap().kind, Unreadable, "{body}");
    }
}
