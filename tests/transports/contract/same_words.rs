//! The same conversation by the program on every transport, against servers that say the same.

use eval_job::record::RunRecord;
use eval_job::score::Outcome;
use serde_json::{Value, json};

use super::websocket;
use super::wire::Wire;
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::servers::websocket::{Do, Peer};
use crate::transports::run;

/// What templates, shells and encodings trip over.
const LINES: [&str; 3] = [r#"Is "{{ user }}" & <b>größer</b> $HOME \n `id`?"#, "日本語 😀 it's", "Thanks, %s"];

/// What every agent answers. It has no blank line: the protocol of `command` drops those.
pub fn answer(heard: &str) -> String {
    format!("You said: {heard}\n{{{{ model }}}} – ok?")
}

/// A job with a time limit of so many seconds for a turn.
pub fn job(target: &Value, turn: u32) -> String {
    let mut whole = json!({"user": "ann", "chatbot": "helper"});
    whole.as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
    format!(
        "evaluator: {{script: {}}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 20\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\nlimits: {{turn: {turn}}}\ntarget: {whole}\n",
        json!(LINES)
    )
}

/// Runs the program, whose server lives in this process.
async fn talk(target: Value) -> RunRecord {
    tokio::task::spawn_blocking(move || run(&job(&target, 2), &["--condition", "without-facts"]).1).await.unwrap()
}

/// An agent that speaks like this, until it has answered so many messages.
async fn server(wire: &Wire, messages: usize, then: Answer) -> Server {
    let (wire, said) = (wire.clone(), std::sync::atomic::AtomicUsize::new(0));
    Server::start(move |_, request| {
        (wire.before)(request).unwrap_or_else(|| {
            let nth = said.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            if nth < messages { wire.reply((wire.says)(&answer(&wire.heard(request)))) } else { then.clone() }
        })
    })
    .await
}

/// The user's words in a frame.
pub fn heard(frame: &str) -> String {
    serde_json::from_str::<Value>(frame).unwrap()["text"].as_str().unwrap().to_owned()
}

/// A connection that breaks takes the conversation with it: there is one try, and it is told.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_behind_a_websocket_that_breaks_in_mid_conversation_has_failed() {
    for (then, part) in [
        (vec![Do::Drop], "the connection broke"),
        (vec![Do::Close(1011, "out of memory hush-key")], "(code 1011, \"out of memory ***\")"),
    ] {
        let peer = Peer::answering(vec![], vec![], move |nth, said| {
            if nth < 2 { websocket::says(&answer(&heard(said))) } else { then.clone() }
        });
        let record = talk(websocket::target(&peer.await.url)).await;
        let Some(Outcome::AgentFailed { error }) = &record.trials[0].outcome else {
            panic!("{:?}", record.trials[0].outcome)
        };
        assert!(error.contains(part) && !error.contains("hush"), "{error}");
        let turn = record.trials[0].evidence.as_ref().unwrap().transcript.turns.last().unwrap();
        let [failed] = &turn.failures[..] else { panic!("{turn:?}") };
        assert!(failed.maybe_received && failed.took_ms.unwrap() > 0.0, "{failed:?}");
        assert_eq!((turn.number, &turn.agent), (3, &None));
    }
}

/// The turns' numbers and words.
fn words(record: &RunRecord) -> Vec<(u32, String, Option<String>)> {
    let turns = &record.trials[0].evidence.as_ref().unwrap().transcript.turns;
    turns.iter().map(|turn| (turn.number, turn.user.clone(), turn.agent.clone())).collect()
}

pub const COMMAND: &str =
    r#"while read -r line; do printf 'noise\nagent: You said: %s\n{{ model }} – ok?\n:DONE\n' "$line"; done"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_conversation_has_the_same_transcript_on_every_transport() {
    let command = json!({"command": {"command": "sh", "args": ["-c", COMMAND], "greeting": false}});
    let said = ["Hello"].into_iter().chain(LINES);
    let expected: Vec<_> =
        (1..).zip(said).map(|(number, line)| (number, line.to_owned(), Some(answer(line)))).collect();
    let mut records = vec![("command", talk(command).await)];
    for wire in wires() {
        let server = server(&wire, usize::MAX, Answer::Close).await;
        records.push((wire.name, talk((wire.target)(&server.url)).await));
    }
    let peer = Peer::answering(vec![], vec![], |_, said| websocket::says(&answer(&heard(said)))).await;
    records.push(("websocket", talk(websocket::target(&peer.url)).await));
    for (name, record) in records {
        assert_eq!(words(&record), expected, "{name}");
        assert_eq!(record.trials[0].outcome, Some(Outcome::Graded), "{name}");
        for turn in &record.trials[0].evidence.as_ref().unwrap().transcript.turns {
            let (latency, spent) = (turn.latency_ms.unwrap(), turn.spent_ms.unwrap());
            assert!(0.0 < latency && latency <= spent, "{name}: {turn:?}");
            assert!(turn.first_token_ms.unwrap_or_default() <= latency, "{name}: {turn:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_breaks_in_mid_conversation_has_failed_on_every_transport() {
    for wire in wires() {
        for (then, tries, doubt, part) in [
            (Answer::json(500, "oops"), 4, true, "answered 500 Internal Server Error: \"oops\""),
            (Answer::json(404, "{}"), 1, false, "answered 404 Not Found"),
        ] {
            let server = server(&wire, 2, then).await;
            let record = talk((wire.target)(&server.url)).await;
            let Some(Outcome::AgentFailed { error }) = &record.trials[0].outcome else {
                panic!("{}: {:?}", wire.name, record.trials[0].outcome)
            };
            assert!(error.contains(part) && !error.contains("hush"), "{}: {error}", wire.name);
            let turn = record.trials[0].evidence.as_ref().unwrap().transcript.turns.last().unwrap();
            assert_eq!((turn.number, turn.failures.len(), &turn.agent), (3, tries, &None), "{}", wire.name);
            let waited: f64 = turn.failures.iter().filter_map(|failed| failed.waited_ms).sum();
            assert!(waited >= if tries > 1 { 700.0 } else { 0.0 } && waited < turn.spent_ms.unwrap(), "{turn:?}");
            assert!(turn.failures.iter().all(|failed| failed.maybe_received == doubt), "{turn:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_has_not_failed_on_any_transport() {
    let targets = wires().into_iter().map(|wire| (wire.name, wire.target));
    for (name, target) in targets.chain([("websocket", websocket::target as fn(&str) -> Value)]) {
        let record = talk(target(&Server::refusing().await)).await;
        let Some(Outcome::Broken { error }) = &record.trials[0].outcome else {
            panic!("{name}: {:?}", record.trials[0].outcome)
        };
        assert!(error.contains("nothing listens there"), "{name}: {error}");
    }
}
