//! A2A's client against a server that misbehaves: what is sent, what is sent again, what is said.

use eval_job::agent::AgentErrorKind::{BadReply, NotFound, Status, Timeout, Unreachable, Unreadable};
use eval_job::agent::a2a::A2aConfig;
use eval_job::agent::{Agent, AgentError, AgentErrorKind, Session};
use serde_json::{Value, json};

use crate::edges::server::{Answer, Server};
use crate::servers::client::{Client, Talk};

fn agent(url: &str) -> Box<dyn Agent> {
    Client::<A2aConfig>::new(json!({"baseUrl": url, "headers": {"X-Tenant": "hush-tenant"}})).agent()
}

fn card(url: &str, version: &str, streaming: bool) -> Answer {
    let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": version});
    let card = json!({"supportedInterfaces": [interface], "capabilities": {"streaming": streaming}});
    Answer::json(200, card.to_string())
}

/// An agent whose card is good and which gives these answers to everything else, the last one for ever.
async fn talking(streaming: bool, answers: Vec<Answer>) -> (Server, Box<dyn Session>) {
    let server = Server::start(move |number, request| {
        if request.target.contains("/.well-known/") {
            // The host that the client came from is the only one that a server knows.
            let host = request.header("host").unwrap();
            return card(&format!("http://{host}/rpc"), "1.0", streaming);
        }
        answers[(number - 1).min(answers.len() - 1)].clone()
    })
    .await;
    let session = agent(&server.url).open().await.unwrap();
    (server, session)
}

fn result(result: Value) -> Answer {
    Answer::json(200, json!({"jsonrpc": "2.0", "id": "1", "result": result}).to_string())
}

fn task(state: &str, text: &str) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": state, "message": {"parts": [{"text": text}]}}})
}

async fn no_session(server: &Server) -> AgentError {
    agent(&server.url).open().await.err().unwrap()
}

#[tokio::test]
async fn the_conversation_and_the_waiting_task_are_named_again() {
    let asks = result(json!({"task": task("TASK_STATE_INPUT_REQUIRED", "Which?")}));
    let done = result(json!({"task": task("TASK_STATE_COMPLETED", "Done.")}));
    let (server, mut session) = talking(false, vec![asks, done.clone(), done]).await;
    for expected in ["Which?", "Done.", "Done."] {
        assert_eq!(session.talk("Hi").await.reply.unwrap().text, expected);
    }
    let sent: Vec<Value> =
        server.received()[1..].iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    let message = |index: usize| &sent[index]["params"]["message"];
    assert_eq!((&message(0)["contextId"], &message(0)["taskId"]), (&Value::Null, &Value::Null));
    assert_eq!((&message(1)["contextId"], &message(1)["taskId"]), (&json!("c"), &json!("t")));
    assert_eq!((&message(2)["contextId"], &message(2)["taskId"]), (&json!("c"), &Value::Null));
    assert_ne!(message(0)["messageId"], message(1)["messageId"]);
    let request = &server.received()[1];
    assert_eq!(request.header("a2a-version"), Some("1.0"));
    assert_eq!(request.header("authorization"), Some("Bearer hush-key"));
    assert_eq!(request.header("x-tenant"), Some("hush-tenant"));
    assert_eq!(request.header("x-user-id"), Some("ann"));
    assert_eq!(session.object_context().await.unwrap_err().kind, NotFound);
}

#[tokio::test]
async fn a_task_is_looked_at_until_it_rests() {
    let working = result(json!({"task": task("TASK_STATE_WORKING", "")}));
    let (server, mut session) = talking(
        false,
        vec![working, result(task("TASK_STATE_WORKING", "soon")), result(task("TASK_STATE_COMPLETED", "Done."))],
    )
    .await;
    let reply = session.talk("Hi").await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.events.len()), ("Done.", 1));
    let methods: Vec<String> = server.received()[1..]
        .iter()
        .map(|request| serde_json::from_str::<Value>(&request.body).unwrap()["method"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(methods, ["SendMessage", "GetTask", "GetTask"]);
}

#[tokio::test]
async fn a_task_that_never_rests_ends_with_the_turns_limit() {
    let server = Server::start(|_, request| match request.method.as_str() {
        "GET" => card(&format!("http://{}/rpc", request.header("host").unwrap()), "1.0", false),
        _ => result(json!({"task": task("TASK_STATE_WORKING", "")})),
    })
    .await;
    let mut client = Client::<A2aConfig>::new(json!({"baseUrl": server.url}));
    client.context.turn_limit = std::time::Duration::from_millis(250);
    let error = client.session().await.talk("Hi").await.reply.unwrap_err();
    assert_eq!(error.kind, Timeout);
    assert!(error.message.contains("still working when the turn's time is up"), "{error}");
}

#[tokio::test]
async fn each_misbehaviour_has_its_words_and_its_number_of_tries() {
    let error = |code: i64| {
        let error = json!({"code": code, "message": "no hush-key"});
        Answer::json(200, json!({"jsonrpc": "2.0", "id": "1", "error": error}).to_string())
    };
    let sse = |body: &str| Answer::of_type(200, "text/event-stream", body);
    let cases: Vec<(Answer, usize, AgentErrorKind, &str)> = vec![
        (error(-32001), 1, NotFound, "has forgotten the task in mid-conversation (no ***)"),
        (error(-32602), 1, Status(400), "the agent reported error -32602: no ***"),
        (error(-32603), 1, BadReply, "the agent reported error -32603: no ***"),
        (Answer::json(200, "{}"), 4, Unreadable, "neither result nor error"),
        (result(json!({"kind": "else"})), 4, Unreadable, "neither a message nor a task"),
        (sse(": nothing\n\n"), 1, BadReply, "neither a message nor a task"),
    ];
    for (answer, arrives, kind, words) in cases {
        let (server, mut session) = talking(true, vec![answer.clone()]).await;
        let exchange = session.talk("Hi").await;
        let error = exchange.reply.unwrap_err();
        assert_eq!((error.kind, server.received().len() - 1), (kind, arrives), "{answer:?}: {error}");
        assert!(error.message.contains(words), "{answer:?}: {error}");
        assert!(!error.message.contains("hush"), "{error}");
        let ids: std::collections::BTreeSet<String> = server.received()[1..]
            .iter()
            .map(|request| {
                serde_json::from_str::<Value>(&request.body).unwrap()["params"]["message"]["messageId"].to_string()
            })
            .collect();
        assert_eq!(ids.len(), 1, "a message keeps its id");
    }
}

#[tokio::test]
async fn an_older_card_is_found_where_it_was() {
    let server = Server::start(|_, request| match request.target.as_str() {
        "/.well-known/agent.json" => {
            Answer::json(200, json!({"url": format!("http://{}/", request.header("host").unwrap())}).to_string())
        }
        "/" => result(json!({"kind": "message", "parts": [{"kind": "text", "text": "Hello"}]})),
        _ => Answer::json(404, "{}"),
    })
    .await;
    let mut session = agent(&server.url).open().await.unwrap();
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Hello");
    assert_eq!(server.received()[2].header("a2a-version"), Some("0.3"));
}

#[tokio::test]
async fn a_card_that_leads_astray_is_not_followed() {
    for (answer, kind, words) in [
        (
            card("https://elsewhere.example/rpc", "1.0", false),
            BadReply,
            "points to another host, https://elsewhere.example",
        ),
        (card("no address", "1.0", false), BadReply, "the agent card's address"),
        (Answer::json(200, "{}"), BadReply, "the agent card names no address"),
        (Answer::json(404, "{}"), NotFound, "no agent card is there: check target.a2a.baseUrl"),
        (Answer::of_type(200, "text/html", "<html>"), Unreadable, "answered text/html instead of JSON"),
    ] {
        let error = no_session(&Server::with(vec![answer]).await).await;
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
    let error = agent(&Server::refusing().await).open().await.err().unwrap();
    assert_eq!(error.kind, Unreachable);
    assert!(error.message.contains("target.a2a.baseUrl"), "{error}");
}

#[tokio::test]
async fn a_reply_of_another_conversation_task_or_role_is_not_taken() {
    let done = |context: &str| {
        let mut task = task("TASK_STATE_COMPLETED", "Done.");
        task["contextId"] = context.into();
        result(json!({ "task": task }))
    };
    let (_, mut session) = talking(false, vec![done("c"), done("other")]).await;
    assert_eq!(session.talk("Hi").await.reply.unwrap().text, "Done.");
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert_eq!(error.kind, BadReply);
    assert!(
        error.message.contains("belongs to another conversation (contextId \"other\" instead of \"c\")"),
        "{error}"
    );

    let mut other = task("TASK_STATE_COMPLETED", "Done.");
    other["id"] = "u".into();
    let working = result(json!({"task": task("TASK_STATE_WORKING", "")}));
    let (_, mut session) = talking(false, vec![working, result(other)]).await;
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("is about another task (\"u\" instead of \"t\")"), "{error}");

    let mine = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Hi"}]});
    let (_, mut session) = talking(false, vec![result(json!({ "message": mine }))]).await;
    let error = session.talk("Hi").await.reply.unwrap_err();
    assert!(error.message.contains("no message of the agent's: its role is user"), "{error}");
}
