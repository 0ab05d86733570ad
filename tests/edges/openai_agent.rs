//! A bare model as the agent, against endpoints that misbehave.

use eval_job::agent::AgentErrorKind::{BadReply, Busy, NotFound, Status, Unreadable};
use eval_job::agent::openai::OpenAiConfig;
use eval_job::agent::{AgentErrorKind, Session};
use eval_job::evidence::{EventKind, Message, Role};
use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::servers::client::{Client, Talk};

fn settings(url: &str) -> Client<OpenAiConfig> {
    Client::new(json!({"baseUrl": format!("{url}/v1"), "tools": [{"name": "price", "returns": {"euros": 5}}],
                       "maxTokens": 9, "temperature": 0.5}))
}

async fn session(settings: Client<OpenAiConfig>) -> Box<dyn Session> {
    settings.session().await
}

fn sse(body: &str) -> Answer {
    Answer::of_type(200, "text/event-stream; charset=utf-8", body)
}

fn words(text: &str) -> String {
    let piece = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!(": ping\r\nretry: 5\r\ndata: {piece}\r\n\r\n")
}

const CALL: &str = concat!(
    r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"price","arguments":"{\"a\":1}"}}]}}]}"#,
    "\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"
);

#[tokio::test]
async fn a_conversation_with_a_call_is_streamed_timed_and_counted() {
    let last = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
    let server = Server::with(vec![
        sse(CALL),
        sse(&format!("{}{}{last}", words("Five "), words("euros."))),
        sse(&format!("{}data: [DONE]", words("Bye."))),
    ])
    .await;
    let mut session = session(settings(&server.url)).await;
    assert_eq!(session.id().len(), 32);
    let reply = session.talk("What is it?").await.reply.unwrap();
    assert_eq!(reply.text, "Five euros.");
    let kinds: Vec<&EventKind> = reply.events.iter().map(|event| &event.kind).collect();
    let [EventKind::FunctionCall(call), EventKind::FunctionResponse { output }] = kinds[..] else { panic!() };
    assert_eq!(
        (call.function.as_str(), &call.args, output),
        ("price", &json!({"a": 1}).into(), &json!({"euros": 5}).into())
    );
    let usage = reply.usage.unwrap();
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (2, Some(30), Some(5)));
    assert!(reply.first_token_ms.unwrap() > 0.0 && reply.first_token_ms.unwrap() <= reply.latency_ms);

    let second = session.talk("Thanks").await.reply.unwrap();
    assert_eq!((second.text.as_str(), second.usage), ("Bye.", None));
    let bodies: Vec<Value> =
        server.received().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    let roles: Vec<&str> =
        bodies[2]["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(bodies[2]["messages"][2]["content"], r#"{"euros":5}"#);
    let request = &server.received()[0];
    assert_eq!(request.target, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer hush-key"));
    assert_eq!(session.object_context().await.unwrap_err().kind, NotFound);
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_read_as_well() {
    let body = json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}).to_string();
    let server = Server::with(vec![Answer::json(200, body)]).await;
    let reply = session(settings(&server.url)).await.talk("Hi").await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.first_token_ms), ("Hello", None));
}

#[tokio::test]
async fn what_an_endpoint_refuses_is_left_out_from_then_on() {
    let refuse = |what: &str| Answer::json(400, json!({"error": {"message": format!("no {what}")}}).to_string());
    let good = sse(&format!("{}data: [DONE]\n\n", words("Hello")));
    let server = Server::with(vec![
        refuse("stream_options"),
        refuse("max_tokens; use 'max_completion_tokens' instead"),
        refuse("temperature"),
        good,
    ])
    .await;
    let mut session = session(settings(&server.url)).await;
    let exchange = session.talk("Hi").await;
    assert_eq!((exchange.reply.unwrap().text.as_str(), exchange.attempts.failures.len()), ("Hello", 0));
    session.talk("Again").await.reply.unwrap();
    assert_eq!(server.received().len(), 5);
    assert!(server.received()[4].body.contains("max_completion_tokens"));
}

#[tokio::test]
async fn each_failure_is_tried_told_and_worded_as_it_should_be() {
    let in_band = |code: Value| {
        sse(&format!("{}data: {}\n\n", words("He"), json!({"error": {"message": "oops hush-key", "code": code}})))
    };
    let cases: Vec<(Answer, usize, AgentErrorKind, &str)> = vec![
        (Answer::json(200, "{\"choices\": [{"), 4, BadReply, "stops in the middle of its JSON"),
        (sse(&words("He")), 4, BadReply, "the stream ended in the middle"),
        (sse("data: [DONE]\n\n"), 4, BadReply, "the agent's message is empty"),
        (Answer::json(200, "{}"), 4, Unreadable, "what came is no completion"),
        (in_band(json!(429)), 4, Busy, "answered with an error: \"oops ***\""),
        (in_band(json!(400)), 1, Status(400), "answered with an error"),
    ];
    for (answer, arrives, kind, words) in cases {
        let what = format!("{answer:.80?}");
        let server = Server::with(vec![answer]).await;
        let mut session = session(settings(&server.url)).await;
        let exchange = session.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("hush-key"), "{what}: {error}");
        assert_eq!((server.received().len(), exchange.attempts.failures.len()), (arrives, arrives), "{what}");
    }
}

#[tokio::test]
async fn a_failed_turn_leaves_nothing_in_the_history_and_calls_without_end_are_ended() {
    let good = sse(&format!("{}data: [DONE]\n\n", words("Hello")));
    let server = Server::with(vec![Answer::json(400, "no"), good]).await;
    let mut talk = session(settings(&server.url)).await;
    assert!(talk.talk("lost").await.reply.is_err());
    talk.talk("kept").await.reply.unwrap();
    assert!(!server.received()[1].body.contains("lost"));

    let server = Server::with(vec![sse(CALL)]).await;
    let error = session(settings(&server.url)).await.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("called functions in 10 rounds"), "{error}");
    assert_eq!(server.received().len(), 11);
}

#[tokio::test]
async fn an_earlier_conversation_goes_before_the_first_message() {
    let answer = Answer::json(200, r#"{"choices":[{"message":{"content":"Sydney."},"finish_reason":"stop"}]}"#);
    let server = Server::with(vec![answer]).await;
    let agent = settings(&server.url).agent();
    let history = [
        Message::new(Role::User, "I live in Sydney."),
        Message::new(Role::Tool, "lookup: 5"),
        Message::new(Role::Assistant, "Noted."),
    ];
    let mut session = agent.open_after(&history).await.unwrap();
    session.talk("Where do I live?").await.reply.unwrap();
    let body: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    let said: Vec<&str> = body["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_str()).collect();
    assert_eq!(said[said.len() - 3..], ["I live in Sydney.", "Noted.", "Where do I live?"]);
}
