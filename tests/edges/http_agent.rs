//! Any REST agent by templates, against servers that misbehave.

use eval_job::agent::AgentErrorKind::{NotFound, Unsendable};
use eval_job::agent::Session;
use eval_job::agent::http::HttpConfig;
use eval_job::evidence::EventKind;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::servers::client::{Client, Talk};

fn settings(url: &str, config: Value) -> Client<HttpConfig> {
    let mut client = Client::new(config);
    client.context.started_at = Some(url.to_owned());
    client
}

fn say(stream: &str) -> Value {
    json!({"say": {"url": "{{ baseUrl }}/say/{{ sessionId }}", "headers": {"Authorization": "Bearer hush-key"},
                   "body": {"text": "{{ message }}", "before": "{{ history }}", "turn": "{{ turn }}"},
                   "reply": "$.word", "events": "$.did", "usage": {"input": "$.in"}, "stream": stream}})
}

async fn session(settings: Client<HttpConfig>) -> Box<dyn Session> {
    settings.session().await
}

#[tokio::test]
async fn a_conversation_by_templates() {
    let mut config = say("json");
    config["open"] = json!({"url": "{{ baseUrl }}/open", "body": {"who": "{{ user }}"}, "sessionId": "$.talk.id"});
    config["state"] = json!({"url": "{{ baseUrl }}/state/{{ sessionId }}"});
    let server = Server::with(vec![
        Answer::json(201, r#"{"talk":{"id":"a/7"}}"#),
        Answer::json(200, r#"{"word":"Hello","did":[{"name":"f","args":{}}],"in":3}"#),
        Answer::json(200, r#"[{"word":"x"}]"#),
        Answer::json(200, r#"{"cart":[1]}"#),
    ])
    .await;
    let settings = settings(&server.url, config);
    let mut session = session(settings).await;
    assert_eq!(session.id(), "a/7");
    let reply = session.talk("Say \"hi\"\nplease").await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.unwrap().input_tokens), ("Hello", Some(3)));
    assert!(matches!(&reply.events[0].kind, EventKind::FunctionCall(call) if call.function == "f"));
    assert_eq!(reply.events.len(), 1);
    let error = session.talk("Again").await.reply.unwrap_err();
    assert!(error.message.contains("picks no text"), "{error}");
    let received = server.received();
    assert_eq!(received[1].target, "/say/a%2F7");
    assert_eq!(received[1].body, r#"{"text":"Say \"hi\"\nplease","before":[],"turn":1}"#);
    assert_eq!(received[1].header("authorization"), Some("Bearer hush-key"));
    let second: Value = serde_json::from_str(&received[2].body).unwrap();
    assert_eq!(second["before"][1], json!({"role": "assistant", "content": "Hello"}));

    let server = Server::with(vec![Answer::json(200, r#"{"cart":[1]}"#)]).await;
    let mut config = say("json");
    config["state"] = json!({"url": "{{ baseUrl }}/state"});
    let state = self::session(self::settings(&server.url, config)).await.object_context().await.unwrap();
    assert_eq!((state.context, server.received()[0].method.as_str()), (json!({"cart": [1]}), "GET"));
    let without = self::session(self::settings(&server.url, say("json"))).await.object_context().await;
    assert_eq!(without.unwrap_err().kind, NotFound);
}

#[tokio::test]
async fn streams_are_read_and_timed() {
    for (stream, kind, body) in [
        (
            "sse",
            "text/event-stream",
            ": x\r\ndata: {\"word\":\"Hel\"}\r\n\r\ndata: {\"word\":\"lo\"}\r\n\r\ndata: [DONE]",
        ),
        ("ndjson", "application/x-ndjson", "{\"word\":\"Hel\"}\n\n{\"in\":3}\r\n{\"word\":\"lo\"}"),
    ] {
        let server = Server::with(vec![Answer::of_type(200, kind, body)]).await;
        let reply = session(settings(&server.url, say(stream))).await.talk("Hi").await.reply.unwrap();
        assert_eq!(reply.text, "Hello", "{stream}");
        assert!(reply.first_token_ms.unwrap() <= reply.latency_ms, "{stream}");
    }
}

#[tokio::test]
async fn what_can_not_be_sent_is_told_without_the_key() {
    let server = Server::with(vec![Answer::Close]).await;
    let mut config = say("json");
    config["say"]["headers"]["X-Said"] = "hush-key {{ message }}".into();
    let exchange = session(settings(&server.url, config)).await.talk("two\nlines").await;
    let error = exchange.reply.unwrap_err();
    assert_eq!((error.kind, exchange.attempts.failures.len()), (Unsendable, 1));
    assert!(
        error.message.contains("target.http.say.headers: `X-Said` holds") && !error.message.contains("hush"),
        "{error}"
    );
}
