//! A simulated user that errs, with the built program: its faults are mended, or its conversation is held again, and nothing of it
//! is charged to the agent.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Request, Server};

const SIGNOFF: &str = "So Long, and Thanks for All the Fish";

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(
        200,
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
    )
}

/// The agent: asks for the time, books, and knows about dogs.
fn agent() -> Server {
    Server::start(|request| {
        let messages = request.json()["messages"].as_array().cloned().unwrap_or_default();
        let asked = messages.iter().filter(|message| message["role"] == "user").count();
        says(match asked {
            1 => "Gladly. For what time shall I book the table?",
            2 => "I have booked your table. Is there anything else?",
            _ => "Yes, dogs are welcome on the terrace. Is there anything else?",
        })
    })
}

fn judge() -> Server {
    Server::start(|request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let task = |index: u32| json!({"index": index, "reason": "so", "turnsRead": all_turns(), "score": 0.8});
        says(
            &json!({"tasks": [task(1), task(2)], "tone": {"reason": "fine", "turnsRead": all_turns(), "score": 1}})
                .to_string(),
        )
    })
}

/// What a good user says next.
fn good(request: &Request) -> (&'static str, bool) {
    let knows = request.body.contains("come at 19:00");
    let replies = request.body.matches("<agent-reply>").count();
    match (replies, knows) {
        (0, _) => ("Hi, I'd like to book a table for two at the Lemon Tree, please.", false),
        (1, true) => ("At 19:00, please.", false),
        (1, false) => ("I don't know yet, please pick any time that is free.", false),
        (2, _) => ("Great. Are dogs allowed there?", false),
        _ => ("That was all, thank you!", true),
    }
}

/// A persona that says `fault` instead of its message `number`, as often as that; all else it says well.
fn persona(number: usize, fault: &'static str, times: usize) -> (Server, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(times));
    let counter = left.clone();
    let server = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let replies = request.body.matches("<agent-reply>").count();
        let takes_one = |left: usize| left.checked_sub(1);
        if replies + 1 == number && counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, takes_one).is_ok() {
            let done = fault.contains(SIGNOFF);
            return says(&json!({"message": fault, "done": done}).to_string());
        }
        let (message, done) = good(request);
        says(&json!({"message": message, "done": done}).to_string())
    });
    (server, left)
}

struct Desk {
    folder: tempfile::TempDir,
    _servers: [Server; 3],
}

impl Desk {
    fn new(persona: Server, more: &Value) -> Desk {
        let (agent, judge) = (agent(), judge());
        let model = |server: &Server, name: &str| json!({"name": format!("openai/{name}"), "baseUrl": format!("{}/v1", server.address)});
        let mut job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "evaluator": {"model": model(&persona, "user")},
            "scorer": {"model": model(&judge, "judge")},
            "greetings": [],
            "facts": ["The user wants to come at 19:00", "The user's name is Ada Byron"],
            "tasks": [
                {"task": "Book a table for two at the Lemon Tree", "acceptanceCriteria": "It is booked"},
                {"task": "Find out whether dogs are allowed at the Lemon Tree", "acceptanceCriteria": "The answer is given"},
            ],
        });
        for (key, value) in more.as_object().unwrap() {
            match (&mut job[key], value) {
                (Value::Object(there), Value::Object(new)) => there.extend(new.clone()),
                (there, new) => *there = new.clone(),
            }
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        Desk { folder, _servers: [agent, judge, persona] }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self) -> (Output, Value) {
        let arguments = ["run", "job.yml", "--model", "m", "-j", "1", "--no-progress", "-o", "run.json"];
        let output = eval_job(self.path()).args(arguments).output().unwrap();
        let text = std::fs::read_to_string(self.path().join("run.json"));
        let record = text.unwrap_or_else(|error| panic!("{error}: {}", words(&output)));
        (output, serde_json::from_str(&record).unwrap())
    }
}

/// The kinds of error that simulated users make: where, what is said, and which fault it is.
const ERRORS: [(&str, usize, &str, &str); 9] = [
    ("a fabricated detail", 2, "At 19:00, please. My phone number is 030 5550199.", "inventedFact"),
    ("a premature end", 2, "Never mind. So Long, and Thanks for All the Fish", "earlyEnd"),
    ("a role swap", 3, "How can I help you today?", "roleSwap"),
    (
        "an answer for the agent",
        3,
        "I have booked the table for you. Is there anything else I can do for you?",
        "roleSwap",
    ),
    ("the task once more", 3, "Hi, I'd like to book a table for two at the Lemon Tree, please.", "repetition"),
    ("a leak", 1, "Hi, I'd like to book a table for two at the Lemon Tree. My name is Ada Byron.", "factLeak"),
    ("a loop", 3, "I have booked your table. Is there anything else?", "roleSwap"),
    ("a reply that is ignored", 3, "Hello! I would like to book a table for two at the Lemon Tree.", "restart"),
    (
        "another language",
        3,
        "Vielen Dank! Sind Hunde dort auch erlaubt, oder muss meiner zu Hause bleiben?",
        "wrongLanguage",
    ),
];

fn figure(record: &Value) -> &Value {
    &record["figures"][0]["figure"]
}

#[test]
fn an_error_of_the_simulated_user_is_mended_or_held_again_and_never_charged_to_the_agent() {
    let (clean, _) = persona(99, "", 0);
    let (output, right) = Desk::new(clean, &json!({})).run();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(words(&output).contains("the persona played its part in 2 of 2 conversations"), "{}", words(&output));
    for (what, number, fault, guard) in ERRORS {
        // Once: it is asked again, and nothing else happens.
        let (once, left) = persona(number, fault, 1);
        let (output, record) = Desk::new(once, &json!({})).run();
        let page = words(&output);
        assert_eq!((output.status.code(), left.load(Ordering::SeqCst)), (Some(0), 0), "{what}: {page}");
        assert_eq!(figure(&record), figure(&right), "{what}: {page}");
        let faults = &record["trials"][0]["evidence"]["personaFaults"];
        let guards: Vec<&str> = faults[0]["findings"]
            .as_array()
            .unwrap_or_else(|| panic!("{what} is not found: {}", record["trials"]))
            .iter()
            .map(|it| it["guard"].as_str().unwrap())
            .collect();
        assert!(guards.contains(&guard), "{what}: {guards:?}");
        assert_eq!((faults[0]["turn"].as_u64(), faults[0]["text"].as_str()), (Some(number as u64), Some(fault)));
        assert!(page.contains("messages not sent: 1 "), "{what}: {page}");

        // Twice: the conversation is held again.
        let (twice, left) = persona(number, fault, 2);
        let (output, record) = Desk::new(twice, &json!({})).run();
        let page = words(&output);
        assert_eq!((output.status.code(), left.load(Ordering::SeqCst)), (Some(0), 0), "{what}: {page}");
        assert_eq!(figure(&record), figure(&right), "{what}: {page}");
        let discarded = record["trials"][0]["discarded"].as_array().unwrap();
        assert_eq!(discarded.len(), 1, "{what}");
        assert!(discarded[0]["error"].as_str().unwrap().starts_with(&format!("its message {number} was faulty twice")));
        assert_eq!(discarded[0]["evidence"]["transcript"].as_array().map_or(0, Vec::len), number - 1);
        assert!(page.contains("the persona played its part in 2 of 3 conversations (0.67)"), "{what}: {page}");

        // For ever: there is no score.
        let (always, _) = persona(number, fault, usize::MAX);
        let (output, record) = Desk::new(always, &json!({"limits": {"reruns": 1}})).run();
        let page = words(&output);
        assert_eq!(output.status.code(), Some(102), "{what}: {page}");
        assert_eq!(record["trials"][0]["outcome"]["kind"], "personaInvalid", "{what}");
        assert_eq!(figure(&record)["kind"], "missing", "{what}: {}", figure(&record));
    }
}

#[test]
fn what_the_persona_spoilt_is_left_out_where_others_of_its_kind_were_held() {
    // Both tries of the first conversation, and nothing after.
    let (server, _) = persona(3, "How can I help you today?", 2);
    let more = json!({"limits": {"reruns": 0}, "repeat": 2, "conditions": ["withoutFacts"]});
    let desk = Desk::new(server, &more);
    let (output, record) = desk.run();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("the persona played its part in 1 of 2 conversations (0.50)"), "{page}");
    assert!(page.contains("1 of 2 conversations could not be scored"), "{page}");
    let output =
        eval_job(desk.path()).args(["show", record["id"].as_str().unwrap(), "-o", "run.xml"]).output().unwrap();
    let junit =
        std::fs::read_to_string(desk.path().join("run.xml")).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(junit.contains(r#"failures="0" errors="0" skipped="1""#), "{junit}");
    assert!(junit.contains(r#"<skipped type="persona invalid" message="persona invalid: its message 3"#), "{junit}");
    let condition = &record["figures"][0]["cases"][0]["conditions"][0];
    assert_eq!((condition["n"].as_u64(), condition["missing"].as_u64()), (Some(1), Some(1)));

    let (server, _) = persona(3, "How can I help you today?", 2);
    let mut more = more;
    more["gate"] = json!({"minValidity": 0.75});
    let (output, _) = Desk::new(server, &more).run();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(102), "{page}");
    assert!(page.contains("in 1 of 2 conversations (0.50), and gate.minValidity is 0.75"), "{page}");
}

#[test]
fn a_fault_that_is_part_of_the_role_is_none() {
    for allow in [json!(["factLeak"]), json!("all")] {
        let (server, _) =
            persona(1, "Hi, I'd like to book a table for two at the Lemon Tree. My name is Ada Byron.", usize::MAX);
        let more = json!({"evaluator": {"allow": allow}, "conditions": ["withFacts"]});
        let (output, record) = Desk::new(server, &more).run();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(record["trials"][0]["evidence"]["personaFaults"], Value::Null);
    }
}

#[test]
fn a_conversation_shows_what_was_not_sent_and_what_was_discarded() {
    let (server, _) = persona(3, "How can I help you today?", 3);
    let desk = Desk::new(server, &json!({"conditions": ["withFacts"]}));
    let (output, record) = desk.run();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let run = record["id"].as_str().unwrap();
    let output = eval_job(desk.path()).args(["show", run, "-v"]).output().unwrap();
    let page = words(&output);
    assert!(page.contains("held before for 2 turns and discarded: its message 3 was faulty twice"), "{page}");
    assert!(page.contains("not sent (role swap: ") && page.contains("How can I help you today?"), "{page}");
}
