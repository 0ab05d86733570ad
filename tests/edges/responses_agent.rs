//! A model behind the Responses API as the agent, against endpoints that misbehave as only they can. What every transport
//! meets is in `transports/contract`.

use eval_job::agent::AgentErrorKind::{BadReply, Busy, NotFound, Status};
use eval_job::agent::responses::ResponsesConfig;
use eval_job::agent::{AgentErrorKind, Session};
use eval_job::evidence::{EventKind, Message, Role};
use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::servers::client::{Client, Talk};

fn settings(url: &str, more: Value) -> Client<ResponsesConfig> {
    let mut config = json!({"baseUrl": format!("{url}/v1"), "instructions": "Be brief.",
                            "headers": {"X-Tenant": "hush-tenant"},
                            "tools": [{"name": "price", "returns": {"euros": 5}}]});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Client::new(config)
}

async fn session(settings: Client<ResponsesConfig>) -> Box<dyn Session> {
    settings.session().await
}

fn sse(events: &[Value]) -> Answer {
    let text: String = events
        .iter()
        .map(|event| format!(": ping\r\nevent: {}\r\ndata: {event}\r\n\r\n", event["type"].as_str().unwrap()))
        .collect();
    Answer::of_type(200, "text/event-stream; charset=utf-8", text)
}

fn delta(text: &str) -> Value {
    json!({"type": "response.output_text.delta", "delta": text})
}

fn completed(id: &str, output: Value) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}});
    json!({"type": "response.completed",
           "response": {"id": id, "status": "completed", "output": output, "usage": usage}})
}

fn failed(error: Value) -> Value {
    json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": error}})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn words(id: &str, text: &str) -> Answer {
    sse(&[delta(text), completed(id, json!([message(text)]))])
}

fn call(id: &str) -> Answer {
    let search = json!({"type": "web_search_call", "action": {"query": "tea"}});
    let call = json!({"type": "function_call", "call_id": "c1", "name": "price", "arguments": "{\"a\":1}"});
    sse(&[completed(id, json!([search, call]))])
}

fn bodies(server: &Server) -> Vec<Value> {
    server.received().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect()
}

#[tokio::test]
async fn each_response_goes_on_from_the_one_before() {
    let server = Server::with(vec![
        call("resp_1"),
        words("resp_2", "Five euros."),
        Answer::json(400, "no"),
        words("resp_4", "Bye."),
    ])
    .await;
    let mut session = session(settings(&server.url, json!({}))).await;
    let reply = session.talk("What is it?").await.reply.unwrap();
    assert_eq!(reply.text, "Five euros.");
    let kinds: Vec<&EventKind> = reply.events.iter().map(|event| &event.kind).collect();
    let [EventKind::FunctionCall(search), EventKind::FunctionCall(price), EventKind::FunctionResponse { output }] =
        kinds[..]
    else {
        panic!("{:?}", reply.events)
    };
    assert_eq!((search.function.as_str(), price.function.as_str()), ("web_search", "price"));
    assert_eq!(output, &json!({"euros": 5}));
    let usage = reply.usage.unwrap();
    assert_eq!((usage.calls, usage.input_tokens, usage.reasoning_tokens), (2, Some(20), Some(2)));
    assert!(reply.first_token_ms.unwrap() > 0.0 && reply.first_token_ms.unwrap() <= reply.latency_ms);
    assert!(session.talk("lost").await.reply.is_err());
    assert_eq!(session.talk("Thanks").await.reply.unwrap().text, "Bye.");

    let bodies = bodies(&server);
    let before: Vec<&Value> = bodies.iter().map(|body| &body["previous_response_id"]).collect();
    assert_eq!(
        before,
        [&Value::Null, &json!("resp_1"), &json!("resp_2"), &json!("resp_2")],
        "a failed turn is no turn"
    );
    assert_eq!(
        bodies[1]["input"],
        json!([{"type": "function_call_output", "call_id": "c1", "output": "{\"euros\":5}"}])
    );
    assert_eq!(bodies[3]["input"], json!([{"role": "user", "content": "Thanks"}]));
    assert!(bodies.iter().all(|body| body["instructions"] == "Be brief." && body["store"] == true));
    let request = &server.received()[0];
    assert_eq!((request.target.as_str(), request.header("x-tenant")), ("/v1/responses", Some("hush-tenant")));
    assert_eq!(request.header("authorization"), Some("Bearer hush-key"));
    assert_eq!(session.object_context().await.unwrap_err().kind, NotFound);
}

#[tokio::test]
async fn a_conversation_is_made_at_the_endpoint() {
    let made = Answer::json(200, r#"{"id":"conv_1","object":"conversation"}"#);
    let server = Server::with(vec![made, call("resp_1"), words("resp_2", "Five."), words("resp_3", "Bye.")]).await;
    let mut session = session(settings(&server.url, json!({"conversation": true}))).await;
    assert_eq!(session.id(), "conv_1");
    session.talk("Hi").await.reply.unwrap();
    session.talk("Thanks").await.reply.unwrap();
    assert_eq!(server.received()[0].target, "/v1/conversations");
    let said = &bodies(&server)[1..];
    assert_eq!(said.len(), 3);
    assert!(said.iter().all(|body| body["conversation"] == "conv_1" && body.get("previous_response_id").is_none()));

    for (answer, words) in [
        (Answer::json(404, ""), "this endpoint has no conversations: leave target.responses.conversation out"),
        (Answer::json(200, "{}"), "the reply holds no conversation id"),
    ] {
        let server = Server::with(vec![answer]).await;
        let agent = settings(&server.url, json!({"conversation": true})).agent();
        let error = agent.open().await.err().unwrap();
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_read_as_well_and_what_was_cut_off_is_told() {
    let whole = json!({"id": "resp_1", "status": "completed", "output": [message("Hello")]}).to_string();
    let cut = json!({"type": "response.incomplete", "response": {"id": "resp_2", "status": "incomplete",
                     "output": [], "incomplete_details": {"reason": "max_output_tokens"}}});
    let server = Server::with(vec![Answer::json(200, whole), sse(&[delta("Once upon"), cut])]).await;
    let mut session = session(settings(&server.url, json!({"maxTokens": 2}))).await;
    let reply = session.talk("Hi").await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.first_token_ms, reply.usage), ("Hello", None, None));
    let reply = session.talk("A tale").await.reply.unwrap();
    assert_eq!(reply.text, "Once upon");
    assert_eq!(reply.events, [EventKind::Other { data: json!({"incomplete": "max_output_tokens"}) }.into()]);
    assert_eq!(bodies(&server)[1]["max_output_tokens"], 2);
}

#[tokio::test]
async fn each_failure_is_tried_told_and_worded_as_it_should_be() {
    let incomplete = |reason: &str| {
        sse(&[json!({"type": "response.incomplete", "response": {"id": "r", "status": "incomplete", "output": [],
                     "incomplete_details": {"reason": reason}}})])
    };
    let error = json!({"type": "error", "code": "ERR", "message": "oops hush-key", "param": null});
    let limit = json!({"code": "rate_limit_exceeded", "message": "slow down"});
    let prompt = json!({"code": "invalid_prompt", "message": "no"});
    let cases: Vec<(Answer, usize, AgentErrorKind, &str)> = vec![
        (Answer::json(400, "no hush-tenant"), 1, Status(400), "answered 400"),
        (sse(&[delta("He")]), 4, BadReply, "the stream ended in the middle: no response.completed"),
        (incomplete("max_output_tokens"), 4, BadReply, "raise target.responses.maxTokens"),
        (incomplete("content_filter"), 4, BadReply, "content filter took the reply away"),
        (sse(&[delta("He"), error]), 4, Status(500), "answered with an error: \"oops ***\" (\"ERR\")"),
        (sse(&[failed(limit)]), 4, Busy, "slow down"),
        (sse(&[failed(prompt)]), 1, Status(400), "invalid_prompt"),
    ];
    for (answer, arrives, kind, words) in cases {
        let what = format!("{answer:.80?}");
        let server = Server::with(vec![answer]).await;
        let exchange = session(settings(&server.url, json!({}))).await.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("hush"), "{what}: {error}");
        assert_eq!((server.received().len(), exchange.attempts.failures.len()), (arrives, arrives), "{what}");
    }
}

#[tokio::test]
async fn a_session_that_is_lost_says_so_and_is_not_tried_again() {
    let lost = json!({"error": {"message": "Previous response with id 'resp_1' not found.", "param": "previous_response_id",
                                "code": "previous_response_not_found", "type": "invalid_request_error"}});
    let in_band = sse(&[json!({"type": "error", "error": lost["error"]})]);
    for answer in [Answer::json(400, lost.to_string()), Answer::json(404, lost.to_string()), in_band] {
        let server = Server::with(vec![words("resp_1", "Hello"), answer]).await;
        let mut session = session(settings(&server.url, json!({}))).await;
        session.talk("Hi").await.reply.unwrap();
        let error = session.talk("And now?").await.reply.unwrap_err();
        assert_eq!(error.kind, NotFound);
        assert!(error.message.starts_with("the endpoint has forgotten the session in mid-conversation"), "{error}");
        assert_eq!(server.received().len(), 2);
    }
}

#[tokio::test]
async fn calls_without_end_are_ended() {
    let server = Server::with(vec![call("resp_1")]).await;
    let error = session(settings(&server.url, json!({}))).await.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("called functions in 10 rounds"), "{error}");
    assert_eq!(server.received().len(), 11);
}

#[tokio::test]
async fn an_earlier_conversation_is_told_with_the_first_message_only() {
    let server = Server::with(vec![words("resp_1", "Sydney."), words("resp_2", "Yes.")]).await;
    let agent = settings(&server.url, json!({})).agent();
    let history = [Message::new(Role::User, "I live in Sydney."), Message::new(Role::Assistant, "Noted.")];
    let mut session = agent.open_after(&history).await.unwrap();
    for text in ["Where do I live?", "Sure?"] {
        session.talk(text).await.reply.unwrap();
    }
    let input = |nth: usize| {
        let body: Value = serde_json::from_str(&server.received()[nth].body).unwrap();
        let items = body["input"].as_array().unwrap().clone();
        items.iter().map(|item| item["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(input(0), ["I live in Sydney.", "Noted.", "Where do I live?"]);
    assert_eq!(input(1), ["Sure?"]);
}

#[tokio::test]
async fn a_response_to_something_else_is_not_taken() {
    let of = |more: Value| {
        let mut event = completed("resp_2", json!([message("Five euros.")]));
        event["response"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        sse(&[event])
    };
    let strays = json!({"previous_response_id": "resp_9"});
    let server = Server::with(vec![of(json!({"previous_response_id": null})), of(strays)]).await;
    let mut session = self::session(settings(&server.url, json!({}))).await;
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Five euros.");
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert_eq!(error.kind, BadReply);
    assert!(error.message.contains("previous_response_id \"resp_9\" instead of \"resp_2\""), "{error}");

    let conversation = |id: &str| json!({"conversation": {"id": id}});
    let server = Server::with(vec![
        Answer::json(200, r#"{"id": "conv_1"}"#),
        of(conversation("conv_1")),
        of(conversation("conv_2")),
    ])
    .await;
    let mut session = self::session(settings(&server.url, json!({"conversation": true}))).await;
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Five euros.");
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("belongs to another conversation (\"conv_2\" instead of \"conv_1\")"), "{error}");
}
