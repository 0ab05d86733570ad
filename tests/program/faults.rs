//! An agent that does something wrong from its third message on: one that fails for ever is scored, and one that recovers
//! is excused only where a message that came twice can have changed what is looked at.

use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::record::RunRecord;
use eval_job::score::{Component, Outcome, Score};
use serde_json::json;

use super::twice::Lasting;
use super::{at_once, eval_job};
use crate::edges::server::{Answer, Received, Server};

/// Its name, the answer, and whether it may have been received.
type Fault = (&'static str, fn() -> Answer, bool);

/// What the agent does wrong, and whether it may have received the message all the same, so that it is in doubt whether
/// it had it twice.
const FAULTS: &[Fault] = &[
    ("500", || Answer::json(500, "oops"), true),
    ("502", || Answer::of_type(502, "text/html", "<html>"), true),
    ("503", || Answer::json(503, ""), false),
    ("429", || Answer::json(429, ""), false),
    ("silence", || Answer::Hang, true),
    ("silence in mid-body", || Answer::Stall { declared: 99, body: b"{".to_vec() }, true),
    ("closed without a word", || Answer::Close, true),
    ("cut in mid-body", || Answer::Cut { declared: 99, body: b"{".to_vec() }, true),
    ("not HTTP", || Answer::Raw(b"SSH-2.0-OpenSSH\r\n"), true),
    ("half of a reply", || Answer::json(200, "{\"sessionId\": \"s\", \"mess"), true),
    ("a web page", || Answer::of_type(200, "text/html", "<html>log in"), true),
    ("empty body", || Answer::json(200, ""), true),
    ("empty text", || reply(" \n"), true),
    ("invalid UTF-8", || Answer::json(200, b"{\"message\": {\"content\": \"\xff\xfe\"}}"), true),
    ("no content", || Answer::json(200, "{\"sessionId\": \"s\"}"), true),
];

fn reply(text: &str) -> Answer {
    let body = json!({"sessionId": "s", "message": {"content": text, "role": "assistant"}, "events": []});
    Answer::json(200, body.to_string())
}

/// An agent whose third message and as many as this after it go wrong. What it shows of itself grows with what it heard.
async fn agent(fault: fn() -> Answer, failures: usize) -> Server {
    let heard = AtomicUsize::new(0);
    Server::start(move |_, request: &Received| match request.target.as_str() {
        "/api/v1/chat/sessions" => Answer::json(200, "{\"sessionId\": \"s\"}"),
        "/api/v1/chat/messages" => {
            let number = heard.fetch_add(1, Ordering::SeqCst) + 1;
            if number > 2 && number <= 2usize.saturating_add(failures) { fault() } else { reply("You are welcome.") }
        }
        _ => {
            let thing = |number| json!({"id": format!("{number}"), "labels": ["DomainNode"]});
            let things: Vec<_> = (0..heard.load(Ordering::SeqCst)).map(thing).collect();
            Answer::json(200, json!({"context": null, "resources": things, "functions": []}).to_string())
        }
    })
    .await
}

/// Each fails: of the conversation, of the agent's state, of the graph, and of its changes, which nobody makes.
const ASSERTIONS: &str = r#"
  - {expression: evaluation.functionCalls.size == 99}
  - {expression: "evaluation.transcript.size == 99"}
  - {expression: objectContext.resources.size == 99}
  - {cypher: "MATCH (n) RETURN count(n)", expected: 99}
  - {changes: {created: [{node: Thing}]}}
  - {expression: changes.created.size == 99}
"#;

fn run(graph: &Lasting, address: &str, assertions: &str) -> (Option<i32>, RunRecord, String) {
    run_within(graph, address, (assertions, "trial: 60"))
}

fn run_within(graph: &Lasting, address: &str, (assertions, limit): (&str, &str)) -> (Option<i32>, RunRecord, String) {
    let job = format!(
        "evaluator: {{script: [two, three, four]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: \"{address}\"}}}}\ngraph: {{neo4j: {{}}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\nlimits: {{turn: 0.5, {limit}}}\n\
         gate: {{minScore: 0.9}}\nsetups: [{{cypher: 'MERGE (:Kept)'}}]\nassertions:{assertions}"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path())
        .args(["run", "job.yml", "--condition", "with-facts", "--no-progress", "-o", "record.json"])
        .envs(graph.env.iter().cloned())
        .output()
        .unwrap();
    let record = std::fs::read(folder.path().join("record.json"))
        .unwrap_or_else(|_| panic!("no record: {}", String::from_utf8_lossy(&output.stderr)));
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), serde_json::from_slice(&record).unwrap(), words)
}

fn components(record: &RunRecord) -> Vec<&Component> {
    let card = record.trials[0].scorecard.as_ref().unwrap();
    card.dimension("assertions").unwrap().items.iter().map(|item| &item.component).collect()
}

#[test]
fn an_agent_that_fails_for_ever_is_scored_and_the_gate_fails() {
    let agents = tokio::runtime::Runtime::new().unwrap();
    // After four tries nobody asks any more.
    let one_more = FAULTS.iter().filter(|(what, ..)| *what == "500").map(|fault| (fault, 4));
    at_once(FAULTS.iter().map(|fault| (fault, usize::MAX)).chain(one_more), |((what, fault, _), failures)| {
        let graph = Lasting::start();
        let server = agents.block_on(agent(*fault, failures));
        let (status, record, words) = run(&graph, &server.url, ASSERTIONS);
        assert!(matches!(record.trials[0].outcome, Some(Outcome::AgentFailed { .. })), "{what}: {words}");
        assert_eq!(status, Some(100), "{what}: {words}");
        assert!(record.figures[0].figure.score().is_some(), "{what}: {words}");
        for component in components(&record) {
            assert_eq!(component.score(), Some(Score::ZERO), "{what}: {words}");
        }
    });
}

#[test]
fn an_agent_that_recovers_is_excused_only_for_a_state_that_may_be_doubled_and_calls_that_nobody_saw() {
    let agents = tokio::runtime::Runtime::new().unwrap();
    at_once(FAULTS, |(what, fault, may_be_doubled)| {
        let graph = Lasting::start();
        let server = agents.block_on(agent(*fault, 1));
        let (status, record, words) = run(&graph, &server.url, ASSERTIONS);
        assert_eq!(record.trials[0].outcome, Some(Outcome::Graded), "{what}: {words}");
        for (index, component) in components(&record).into_iter().enumerate() {
            // The state may be doubled, and of what was called at the first delivery nobody knows.
            let is_excused = *may_be_doubled && [0, 2].contains(&index);
            assert_eq!(component.score(), (!is_excused).then_some(Score::ZERO), "{what}, {index}: {words}");
            assert!(!is_excused || component.why().contains("; but "), "{what}, {index}: {words}");
        }
        assert_eq!(status, Some(if *may_be_doubled { 102 } else { 100 }), "{what}: {words}");
    });
    // Without those assertions nothing is in doubt.
    let graph = Lasting::start();
    let server = agents.block_on(agent(|| Answer::Close, 1));
    let is_in_doubt = |line: &&str| line.contains("objectContext") || line.contains("functionCalls");
    let others: Vec<&str> = ASSERTIONS.lines().filter(|line| !is_in_doubt(line)).collect();
    let others = format!("{}\n", others.join("\n"));
    let (status, _, words) = tokio::task::block_in_place(|| run(&graph, &server.url, &others));
    assert_eq!(status, Some(100), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_too_slow_to_the_end_is_scored() {
    let graph = Lasting::start();
    let server = agent(|| Answer::Hang, usize::MAX).await;
    let (status, record, words) =
        tokio::task::block_in_place(|| run_within(&graph, &server.url, (ASSERTIONS, "trial: 1.2")));
    assert_eq!(status, Some(100), "{words}");
    assert!(components(&record).into_iter().all(|component| component.score() == Some(Score::ZERO)), "{words}");
}

/// The agent answers its first message and no other; the persona's model takes this long.
fn out_of_time(persona: std::time::Duration) -> (Option<i32>, RunRecord) {
    use crate::servers::http::{Reply, Server};
    let heard = AtomicUsize::new(0);
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ if heard.fetch_add(1, Ordering::SeqCst) > 0 => Reply::Silence,
        _ => Reply::Json(200, json!({"sessionId": "s", "message": {"content": "Hello!", "role": "assistant"}})),
    });
    let model = Server::start(move |_| {
        std::thread::sleep(persona);
        let content = json!({"message": "A train to Lyon, please", "done": false}).to_string();
        let message = json!({"role": "assistant", "content": content});
        Reply::Json(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    });
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: \"{}\"}}}}\nfacts: []\nmetrics: [timing]\n\
         aspirationalAverage: 1000\nevaluator: {{model: openai/m}}\ngate: {{minScore: 0.8}}\nlimits: {{turn: 60, trial: 4}}\n\
         tasks: [{{task: Book, acceptanceCriteria: Booked}}]\n",
        agent.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path())
        .args(["run", "job.yml", "-o", "record.json"])
        .envs([("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", &format!("{}/v1", model.address))])
        .output()
        .unwrap();
    let record = std::fs::read(folder.path().join("record.json")).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), serde_json::from_slice(&record).unwrap())
}

#[test]
fn a_message_that_is_not_answered_in_time_is_the_agents_failure_only_where_it_had_most_of_the_time() {
    let (status, record) = out_of_time(std::time::Duration::ZERO);
    assert_eq!(status, Some(100));
    assert!(matches!(record.trials[0].outcome, Some(Outcome::AgentFailed { .. })), "{:?}", record.trials[0].outcome);
    let (status, record) = out_of_time(std::time::Duration::from_secs(3));
    assert_eq!(status, Some(102));
    let Some(Outcome::Broken { error }) = &record.trials[0].outcome else { panic!("{:?}", record.trials[0].outcome) };
    assert!(error.contains("limits.trial") && error.contains("gone elsewhere"), "{error}");
}
