//! watsonx Orchestrate's client against servers that misbehave: what is sent again, what is read instead, what is said.

use eval_job::agent::AgentErrorKind::{NotFound, Timeout};
use eval_job::agent::watsonx::WatsonxConfig;
use eval_job::agent::{AgentErrorKind, Session};
use eval_job::evidence::EventKind;
use serde_json::{Value, json};

use super::watsonx::{AGENT, THREAD, frames, run_lines};
use crate::edges::server::{Answer, Received, Server};
use crate::servers::client::{Client, Exchange, Talk};

async fn open(url: &str, mut config: Value) -> Box<dyn Session> {
    let headers = json!({"X-Tenant": "hush-tenant"});
    let more = json!({"baseUrl": url, "agent": "helper", "headers": headers});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Client::<WatsonxConfig>::new(config).session().await
}

fn agents() -> Answer {
    Answer::json(200, json!([{"id": AGENT, "name": "helper"}]).to_string())
}

/// A server that knows the agent and gives these answers to messages, and these to looks at the thread.
async fn talking(messages: Vec<Answer>, looks: Vec<Answer>) -> Server {
    let asked = std::sync::Mutex::new((0, 0));
    let next = |answers: &[Answer], asked: &mut usize| {
        *asked += 1;
        answers[(*asked - 1).min(answers.len() - 1)].clone()
    };
    Server::start(move |_, request: &Received| {
        let mut asked = asked.lock().unwrap();
        match request.target.as_str() {
            "/v1/orchestrate/agents" => agents(),
            target if target.ends_with("/messages") => next(&looks, &mut asked.1),
            _ => next(&messages, &mut asked.0),
        }
    })
    .await
}

fn lines(text: &str) -> Answer {
    Answer::of_type(200, "application/x-ndjson", text)
}

fn sse(text: &str) -> Answer {
    Answer::of_type(200, "text/event-stream", text)
}

fn cut(text: &str) -> Answer {
    Answer::Cut { declared: text.len() + 900, body: text.as_bytes().to_vec() }
}

fn messages(server: &Server) -> Vec<Received> {
    server.received().into_iter().filter(|request| request.method == "POST").collect()
}

fn failed(exchange: &Exchange) -> (AgentErrorKind, &str) {
    let error = exchange.reply.as_ref().unwrap_err();
    (error.kind, &error.message)
}

#[tokio::test]
async fn a_run_that_breaks_off_is_read_from_its_thread_and_not_said_again() {
    let whole = run_lines("Note the milk");
    let begun: String = whole.split_inclusive('\n').take(2).collect();
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"response_type": "text", "text": text}]});
    let asked = json!([text("user", "Note the milk")]).to_string();
    let answered = json!([text("user", "Note the milk"), text("assistant", "Noted: milk.")]).to_string();
    // Cut, ended too early, and cut within a line.
    for broken in [cut(&begun), lines(&begun), lines(&whole[..begun.len() + 40])] {
        let looks = vec![Answer::json(200, &asked), Answer::json(200, &answered)];
        let server = talking(vec![broken.clone(), lines(&run_lines("Hello"))], looks).await;
        let mut session = open(&server.url, json!({})).await;
        let exchange = session.talk("Note the milk").await;
        let reply = exchange.reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.first_token_ms), ("Noted: milk.", None), "{broken:?}");
        assert_eq!(exchange.attempts.failures.len(), 1);
        assert!(exchange.attempts.failures[0].took_ms.is_some());
        assert!(exchange.attempts.failures[0].error.ends_with("; its thread is read"), "{:?}", exchange.attempts);
        assert_eq!(messages(&server).len(), 1, "said once");
        assert_eq!(server.count(&format!("/v1/threads/{THREAD}/messages")), 2);
        // The conversation goes on in its thread.
        session.talk("Hello").await.reply.unwrap();
        let body: Value = serde_json::from_str(&messages(&server)[1].body).unwrap();
        assert_eq!(body["thread_id"], THREAD);
    }
}

#[tokio::test]
async fn a_thread_without_the_answer_ends_in_the_first_failure() {
    let begun: String = run_lines("Hi").split_inclusive('\n').take(1).collect();
    let server = talking(vec![cut(&begun)], vec![Answer::json(200, "[]")]).await;
    let exchange = open(&server.url, json!({"edition": "saas"})).await.talk("Hi").await;
    let (kind, words) = failed(&exchange);
    assert_eq!(kind, Timeout);
    assert!(words.ends_with("; and its thread shows no answer"), "{words}");
    assert_eq!(server.count(&format!("/v1/orchestrate/threads/{THREAD}/messages")), 3, "as often as the policy says");
    assert_eq!(messages(&server).len(), 1);
}

#[tokio::test]
async fn a_turn_that_breaks_off_is_only_said_again_where_no_thread_would_hold_it_twice() {
    let broken = cut(&frames("Hi", THREAD)[..60]);
    let kept = json!({"api": "v2", "threads": "server"});
    for (config, arrives, words) in [
        (json!({"api": "v2"}), 4, "in the middle of the reply"),
        (kept, 1, "not sent again: the thread would hold the message twice"),
    ] {
        let server = talking(vec![broken.clone()], vec![Answer::json(200, "[]")]).await;
        let exchange = open(&server.url, config.clone()).await.talk("Hi").await;
        let (kind, said) = failed(&exchange);
        assert_eq!((kind, messages(&server).len()), (Timeout, arrives), "{config}: {said}");
        assert!(said.contains(words), "{config}: {said}");
        assert_eq!(exchange.attempts.failures.len(), arrives);
        assert!(exchange.attempts.failures.iter().all(|failed| failed.maybe_received && failed.took_ms.is_some()));
    }
}

#[tokio::test]
async fn a_thread_that_v1_has_forgotten_is_told() {
    let server = talking(
        vec![lines(&run_lines("Hello")), Answer::json(404, r#"{"detail":"Thread not found"}"#)],
        vec![agents()],
    )
    .await;
    let mut session = open(&server.url, json!({})).await;
    session.talk("Hello").await.reply.unwrap();
    let exchange = session.talk("Hello").await;
    let (kind, words) = failed(&exchange);
    assert_eq!(kind, NotFound);
    assert!(words.contains("the agent has forgotten the thread in mid-conversation"), "{words}");
}

#[tokio::test]
async fn a_lost_thread_is_made_again_from_the_transcript() {
    let fresh = "7d9e6679-7425-40de-944b-e07fc1f90ae8";
    let gone = Answer::json(404, r#"{"error":{"message":"Thread not found"}}"#);
    let answers = vec![sse(&frames("Note", THREAD)), gone, sse(&frames("Hello", fresh)), sse(&frames("Hello", fresh))];
    let server = talking(answers, vec![agents()]).await;
    let mut session = open(&server.url, json!({"api": "v2", "threads": "server"})).await;
    session.talk("Note").await.reply.unwrap();
    let exchange = session.talk("Hello").await;
    assert_eq!(exchange.reply.unwrap().text, "You said: Hello");
    assert_eq!(exchange.attempts.failures.len(), 1);
    assert!(exchange.attempts.failures[0].took_ms.is_some());
    assert!(exchange.attempts.failures[0].error.ends_with("made again from the transcript"), "{:?}", exchange.attempts);
    session.talk("Hello").await.reply.unwrap();
    let sent = messages(&server);
    let threads: Vec<_> = sent.iter().map(|request| request.header("x-ibm-thread-id")).collect();
    assert_eq!(threads, [Some("new"), Some(THREAD), Some("new"), Some(fresh)]);
    let held: Vec<usize> = sent.iter().map(|request| body(request)["messages"].as_array().unwrap().len()).collect();
    // The second has a call, its result and the words of the first turn before it when it is said again.
    assert_eq!(held, [1, 1, 5, 1]);
    let roles: Vec<Value> = body(&sent[2])["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}

fn body(request: &Received) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

#[tokio::test]
async fn a_deployment_without_threads_gets_the_conversation_each_time() {
    let no_store = Answer::json(503, r#"{"error":{"message":"Thread store is not enabled"}}"#);
    for answers in [vec![no_store, sse(&frames("Note", THREAD))], vec![sse(&frames("Note", "new"))]] {
        let noted = answers.len() - 1;
        let server = talking(answers, vec![agents()]).await;
        let mut session = open(&server.url, json!({"api": "v2", "threads": "server"})).await;
        let exchange = session.talk("Note").await;
        let reply = exchange.reply.unwrap();
        assert!(matches!(reply.events[0].kind, EventKind::FunctionCall(_)), "{reply:?}");
        assert_eq!(exchange.attempts.failures.len(), noted, "{:?}", exchange.attempts);
        session.talk("Note").await.reply.unwrap();
        let sent = messages(&server);
        let last = sent.last().unwrap();
        assert_eq!((last.header("x-ibm-thread-id"), body(last)["thread_id"].as_str().unwrap()), (None, session.id()));
        assert_eq!(body(last)["messages"].as_array().unwrap().len(), 5);
        assert_eq!(sent.len(), 2 + noted, "no message is said twice where it was answered");
    }
}
