//! Whose fault it is that no answer ever came, by the program on every transport: an error of the job is broken, and names
//! the key; an agent that fails has failed.

use eval_job::score::Outcome;
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::same_words::job;
use super::websocket;
use super::wire::Wire;
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::servers::websocket::{Do, Peer};
use crate::transports::run;

/// What a conversation came to: the exit status and the outcome.
async fn outcome(target: Value) -> (i32, Outcome) {
    let once = move || run(&job(&target, 1), &["--condition", "without-facts"]);
    let (output, record) = tokio::task::spawn_blocking(once).await.unwrap();
    (output.status.code().unwrap(), record.trials[0].outcome.clone().unwrap())
}

#[derive(Clone, Copy)]
struct Fault {
    what: &'static str,
    answer: fn(&Wire) -> Answer,
    is_of_the_job: bool,
}

const fn of_the_job(what: &'static str, answer: fn(&Wire) -> Answer) -> Fault {
    Fault { what, answer, is_of_the_job: true }
}

const fn of_the_agent(what: &'static str, answer: fn(&Wire) -> Answer) -> Fault {
    Fault { what, answer, is_of_the_job: false }
}

const FAULTS: &[Fault] = &[
    of_the_job("a wrong body", |_| Answer::json(400, "what?")),
    of_the_job("a wrong key", |_| Answer::json(401, "who?")),
    of_the_job("a wrong path", |_| Answer::json(404, "{}")),
    of_the_job("a body of another shape", |_| Answer::json(422, "{\"detail\": []}")),
    of_the_job("a web page", |_| Answer::of_type(200, "text/html", "<html>")),
    of_the_agent("500 for ever", |_| Answer::json(500, "oops")),
    of_the_agent("503 for ever", |_| Answer::json(503, "oops")),
    of_the_agent("no words", |wire| wire.reply((wire.says)(""))),
    of_the_agent(CLOSED, |_| Answer::Close),
];

const CLOSED: &str = "closed without a word";

/// Where nothing was opened before, a port that ends every connection may be any other program's.
const NOTHING_OPENED: [&str; 6] = ["openai", "http json", "http sse", "http ndjson", "responses", "trpc agent"];

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_job_is_never_the_agents_on_any_transport() {
    let cases: Vec<(Wire, Fault)> =
        wires().into_iter().flat_map(|wire| FAULTS.iter().map(move |fault| (wire.clone(), *fault))).collect();
    let wrong: Vec<String> = futures_util::stream::iter(cases)
        .map(async |(wire, fault)| {
            let (name, before, then) = (wire.name, wire.before, (fault.answer)(&wire));
            let server = Server::start(move |_, request| before(request).unwrap_or_else(|| then.clone())).await;
            let (status, outcome) = outcome((wire.target)(&server.url)).await;
            let is_of_the_job = fault.is_of_the_job || (fault.what == CLOSED && NOTHING_OPENED.contains(&name));
            complaint(is_of_the_job, status, &outcome).map(|what| format!("{name}, {}: {what}", fault.what))
        })
        .buffer_unordered(6)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with an outcome; nothing if it is whom it should be.
fn complaint(is_of_the_job: bool, status: i32, outcome: &Outcome) -> Option<String> {
    let names_a_key = outcome.error().is_some_and(|error| error.contains("target.") || error.contains("--model"));
    let is_right = match outcome {
        Outcome::Broken { .. } => is_of_the_job && status == 102 && names_a_key,
        Outcome::AgentFailed { .. } => !is_of_the_job && status == 0,
        _ => false,
    };
    (!is_right).then(|| format!("status {status}, {outcome:?}"))
}

/// What the job says beside the address can be wrong in more ways where there is no protocol.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_says_of_an_agent_without_a_protocol_can_be_wrong() {
    let server = Server::start(|_, request| match request.header("x-tenant") {
        None => Answer::json(400, "no tenant"),
        Some(_) if !request.body.contains("\"text\"") => Answer::json(422, "text: field required"),
        Some(_) => Answer::json(200, json!({"answer": {"words": "Hello"}, "empty": "", "log": null}).to_string()),
    })
    .await;
    let say = |reply: &str, body: &str, header: &str, stream: &str| {
        json!({"http": {"say": {"url": format!("{}/say", server.url), "headers": {header: "t"},
                                "body": {body: "{{ message }}"}, "reply": reply, "stream": stream}}})
    };
    let program = |script: &str, more: &str| json!({"command": {"command": "sh", "args": ["-c", script], "greeting": false, "terminator": more}});
    let peer = Peer::start(vec![], vec![websocket::says("Hello")]).await;
    let closing = Peer::start(vec![], vec![vec![Do::Close(1008, "who are you?")]]).await;
    let quiet = Peer::start(vec![], vec![vec![]]).await;
    let socket = |url: &str, reply: Value| json!({"websocket": {"url": url, "say": "{{ message }}", "reply": reply}});
    let delta = json!({"delta": "$.delta", "done": {"path": "$.end"}});
    let cases = [
        (say("$.answer.words", "text", "x-tenant", "json"), None),
        (say("$.reply", "text", "x-tenant", "json"), Some("target.http.say.reply")),
        (say("$.answer", "text", "x-tenant", "json"), Some("target.http.say.reply")),
        (say("$.answer.words", "message", "x-tenant", "json"), Some("target.http.say")),
        (say("$.answer.words", "text", "x-tennant", "json"), Some("target.http.say")),
        (say("$.words", "text", "x-tenant", "sse"), Some("target.http.say.stream")),
        (say("$.words", "text", "x-tenant", "ndjson"), Some("target.http.say.reply")),
        // It is there and says nothing.
        (say("$.empty", "text", "x-tenant", "json"), Some("agent failed")),
        (say("$.log", "text", "x-tenant", "json"), Some("agent failed")),
        (program("while read -r line; do echo agent: Hi; echo END; done", "STOP"), Some("target.command.terminator")),
        (program("read -r line; echo Hi", "STOP"), Some("target.command.terminator")),
        (program("exec no-such-program-of-mine", ":DONE"), Some("target.command.command")),
        // A command that never says a word may be any program.
        (program("read -r line; exit 3", ":DONE"), Some("target.command.args")),
        (program("cat > /dev/null", ":DONE"), Some("target.command.command")),
        (socket(&peer.url, delta.clone()), None),
        (
            socket(&peer.url, json!({"delta": "$.delta", "done": {"path": "$.fin"}})),
            Some("target.websocket.reply.done"),
        ),
        (socket(&peer.url, json!({"delta": "$.words", "done": {"path": "$.end"}})), Some("target.websocket.reply")),
        (socket(&peer.url, json!({"text": "$.words"})), Some("target.websocket.reply.delta")),
        (socket(&closing.url, delta.clone()), Some("target.websocket")),
        (socket(&quiet.url, delta), Some("agent failed")),
    ];
    let wrong: Vec<String> = futures_util::stream::iter(cases)
        .map(async |(target, expected)| {
            let (status, outcome) = outcome(target.clone()).await;
            let is_right = match (&outcome, expected) {
                (Outcome::Graded, None) | (Outcome::AgentFailed { .. }, Some("agent failed")) => status == 0,
                (Outcome::Broken { error }, Some(key)) => status == 102 && error.contains(key),
                _ => false,
            };
            (!is_right).then(|| format!("{target}: status {status}, {outcome:?} instead of {expected:?}"))
        })
        .buffer_unordered(6)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An agent that has answered once knows the job's words: what it refuses later is its own doing.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_answered_once_and_refuses_then_has_failed() {
    let wire = wires().into_iter().find(|wire| wire.name == "http json").unwrap();
    let good = wire.reply((wire.says)("Hello"));
    for then in [Answer::json(400, "no"), Answer::json(200, "{\"other\": 1}"), Answer::of_type(200, "text/html", "<p>")]
    {
        let server = Server::with(vec![good.clone(), then]).await;
        let (status, outcome) = outcome((wire.target)(&server.url)).await;
        assert_eq!(complaint(false, status, &outcome), None);
    }
}
