//! Any REST agent by templates, against servers that misbehave.

use eval_job::agent::AgentErrorKind::{BadReply, NotFound, Unreadable, Unsendable};
use eval_job::agent::http::HttpConfig;
use eval_job::agent::{Session, Transport};
use eval_job::evidence::{EventKind, UserToolCall};
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
async fn a_tool_of_the_user_is_called_once_and_its_result_is_json_text_or_nothing() {
    let config = |result: Option<&str>| {
        let mut config = say("json");
        config["userTools"] = json!({"url": "{{ baseUrl }}/{{ sessionId }}/{{ name }}", "body": "{{ arguments }}"});
        if let Some(result) = result {
            config["userTools"]["result"] = result.into();
        }
        config
    };
    let arguments = json!({"on": true, "why": "\"quoted\" {{ name }}"});
    let call = UserToolCall {
        turn: 1,
        name: "toggle data".to_owned(),
        arguments: arguments.clone(),
        result: None,
        changes: Vec::new(),
    };
    for (answer, path, expected) in [
        (Answer::json(200, r#"{"on":[1,2]}"#), None, json!({"on": [1, 2]})),
        (Answer::json(200, r#"{"on":[1,2]}"#), Some("$.on[*]"), json!([1, 2])),
        (Answer::json(200, r#"{"on":[1]}"#), Some("$.on[*]"), json!(1)),
        (Answer::json(200, r#"{"on":null}"#), Some("$.on"), Value::Null),
        (Answer::of_type(200, "text/plain; charset=utf-8", "It is on"), None, json!("It is on")),
        (Answer::of_type(200, "text/plain", ""), None, Value::Null),
        (Answer::json(204, ""), None, Value::Null),
    ] {
        let server = Server::with(vec![answer]).await;
        let mut session = session(settings(&server.url, config(path))).await;
        assert_eq!(session.call_user_tool(&call).await.unwrap(), expected);
        let received = server.received();
        assert!(received[0].target.ends_with("/toggle%20data"), "{}", received[0].target);
        assert_eq!(serde_json::from_str::<Value>(&received[0].body).unwrap(), arguments);
    }
    // What was refused for now was not done, and is asked for again; what may have been done is not.
    let busy = vec![Answer::json(429, "{}"), Answer::json(200, r#""done""#)];
    let server = Server::with(busy).await;
    let mut session = self::session(settings(&server.url, config(None))).await;
    assert_eq!(session.call_user_tool(&call).await.unwrap(), "done");
    for (answer, expected) in [
        (Answer::json(500, r#"{"error":"out of order"}"#), "answered 500"),
        (Answer::json(404, "{}"), "target.http.userTools.url says what was asked for"),
        (Answer::of_type(200, "text/html", "<html>Welcome</html>"), "text/html"),
        (Answer::json(200, r#"{"on":"#), "stops in the middle of its JSON"),
    ] {
        let server = Server::with(vec![answer]).await;
        let mut session = self::session(settings(&server.url, config(None))).await;
        let error = session.call_user_tool(&call).await.unwrap_err();
        assert!(error.message.contains(expected), "{error}");
        assert_eq!(server.received().len(), 1, "{error}");
    }
    let server = Server::with(Vec::new()).await;
    let error = self::session(settings(&server.url, say("json"))).await.call_user_tool(&call).await.unwrap_err();
    assert_eq!(error.kind, Unsendable);
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

#[tokio::test]
async fn each_way_in_which_a_stream_fails_has_a_name() {
    let word = |text: &str| format!("data: {}\n\n", json!({ "word": text }));
    let cases = [
        (
            format!("{}event: error\ndata: overloaded hush-key\n\n", word("Hel")),
            BadReply,
            "reported an error in its stream: \"overloaded ***\"",
        ),
        (
            format!("{}data: {{\"error\": {{\"message\": \"overloaded\"}}}}\n\n", word("Hel")),
            BadReply,
            "reported an error in its stream: \"overloaded\"",
        ),
        (
            format!("{}data: {{\"type\": \"error\", \"message\": \"overloaded\"}}\n\n", word("Hel")),
            BadReply,
            "reported an error in its stream: \"overloaded\"",
        ),
        (
            format!("{}data: oops\n\n{}", word("Hel"), word("lo")),
            Unreadable,
            "an event of the stream is not JSON: \"oops\"",
        ),
        (
            format!("{}data: {{\"word\":\"l", word("Hel")),
            BadReply,
            "an event of the stream stops in the middle of its JSON",
        ),
    ];
    for (body, kind, words) in cases {
        let server = Server::with(vec![Answer::of_type(200, "text/event-stream", body.clone())]).await;
        let error = session(settings(&server.url, say("sse"))).await.talk("Hi").await.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{body}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("hush"), "{body}: {error}");
    }
    // What keeps a connection open is none of it, and an error that is none is none either.
    let body = format!("event: ping\ndata: ping\n\n{}data: {{\"error\": null}}\n\n{}", word("Hel"), word("lo"));
    let server = Server::with(vec![Answer::of_type(200, "text/event-stream", body)]).await;
    assert_eq!(session(settings(&server.url, say("sse"))).await.talk("Hi").await.reply.unwrap().text, "Hello");
}

#[tokio::test]
async fn a_stream_that_ends_without_its_last_event_was_cut_off() {
    let stream = |body: &str| Answer::of_type(200, "text/event-stream", body);
    let (whole, cut) = ("data: {\"word\":\"Hello\"}\n\ndata: [DONE]\n\n", "data: {\"word\":\"Hel\"}\n\n");
    let server = Server::with(vec![stream(whole), stream(cut)]).await;
    let mut session = session(settings(&server.url, say("sse"))).await;
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Hello");
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert_eq!(error.kind, BadReply);
    assert!(error.message.contains("cut off: it ends without [DONE]"), "{error}");

    let mut config = say("sse");
    config["say"]["done"] = json!({"path": "$.type", "equals": "end"});
    let server =
        Server::with(vec![stream("data: {\"word\":\"Hello\"}\n\ndata: {\"type\":\"end\"}\n\n"), stream(cut)]).await;
    let mut session = self::session(settings(&server.url, config.clone())).await;
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Hello");
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("it ends without what target.http.say.done names"), "{error}");

    // Plain text in the middle of an event.
    let mut plain = say("sse");
    plain["say"]["reply"] = "$".into();
    let server = Server::with(vec![stream("data: Hel\n\ndata: l")]).await;
    let error = self::session(settings(&server.url, plain)).await.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("the stream stops in the middle of an event: \"l\""), "{error}");

    config["say"]["stream"] = "json".into();
    let problems = Client::<HttpConfig>::unchecked(serde_json::from_value(config).unwrap()).config.check();
    assert!(problems[0].to_string().contains("only a stream has a last event"), "{problems:?}");
}
