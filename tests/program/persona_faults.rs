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

pub(super) fn says(content: &str) -> Reply {
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
pub(super) fn good(request: &Request) -> (&'static str, bool) {
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

/// A reviewer that calls this message a role swap, and answers with `otherwise` about all others; with how often it was asked.
fn reviewer(fault: &'static str, otherwise: &'static str) -> (Server, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let server = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let nth = counter.fetch_add(1, Ordering::SeqCst);
        let asked = request.json();
        let prompt = asked["messages"][0]["content"].as_str().unwrap();
        let next = prompt.rsplit_once("<next>").unwrap().1;
        let found = json!({"reason": "so", "fault": "roleSwap", "quote": fault});
        match (next.contains(fault), otherwise) {
            (true, _) => says(&found.to_string()),
            // The second of three samples sees a fault everywhere.
            (_, "one of three") if nth % 3 == 1 => {
                let quote = next.split_once("</next>").unwrap().0.replace("&amp;", "&");
                says(&json!({"reason": "so", "fault": "twoTasks", "quote": quote}).to_string())
            }
            (_, "500") => Reply::Json(500, json!({"error": {"message": "overloaded"}})),
            (_, "401") => Reply::Json(401, json!({"error": {"message": "no such key"}})),
            (_, "none" | "one of three") => says(&json!({"reason": "so", "fault": "none", "quote": ""}).to_string()),
            (_, other) => says(other),
        }
    });
    (server, asked)
}

/// A fault that no rule finds.
const UNSEEN: &str = "Dogs are welcome on our terrace, of course.";

/// The job with a reviewer.
fn reviewed_desk(persona: Server, reviewer: &Server, more: Value) -> Desk {
    let mut review = json!({"model": {"name": "openai/reader", "baseUrl": format!("{}/v1", reviewer.address)}});
    review.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Desk::new(persona, &json!({"evaluator": {"review": review}, "conditions": ["withoutFacts"]}))
}

#[test]
fn what_no_rule_finds_a_second_model_finds_before_it_is_sent() {
    // Without it, the message goes to the agent.
    let (server, _) = persona(3, UNSEEN, 1);
    let (_, record) = Desk::new(server, &json!({"conditions": ["withoutFacts"]})).run();
    assert_eq!(record["trials"][0]["evidence"]["transcript"][2]["user"], UNSEEN);

    let (server, left) = persona(3, UNSEEN, 1);
    let (reader, asked) = reviewer(UNSEEN, "none");
    let (output, record) = reviewed_desk(server, &reader, json!({})).run();
    let page = words(&output);
    assert_eq!((output.status.code(), left.load(Ordering::SeqCst)), (Some(0), 0), "{page}");
    let trial = &record["trials"][0];
    assert_eq!(trial["evidence"]["transcript"][2]["user"], "Great. Are dogs allowed there?");
    let fault = &trial["evidence"]["personaFaults"][0];
    assert_eq!(
        (&fault["turn"], &fault["text"], &fault["findings"][0]["guard"], &fault["findings"][0]["foundBy"]),
        (&json!(3), &json!(UNSEEN), &json!("roleSwap"), &json!("openai/reader"))
    );
    // Four messages, and the faulty one.
    assert_eq!(asked.load(Ordering::SeqCst), 5, "{page}");
    let calls = trial["calls"].as_array().unwrap().iter().filter(|call| call["asker"] == "reviewer");
    assert_eq!(calls.count(), 5, "{page}");
    assert!(page.contains(", reviewed by openai/reader") && page.contains("\n  reviewer "), "{page}");

    // Twice: the conversation is held again; the words of the reviewer are none of the agent's.
    let (server, _) = persona(3, UNSEEN, usize::MAX);
    let (reader, _) = reviewer(UNSEEN, "none");
    let (output, record) = reviewed_desk(server, &reader, json!({"samples": 3})).run();
    let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(102), "{page}");
    assert_eq!(record["trials"][0]["outcome"]["kind"], "personaInvalid", "{page}");
    assert!(page.contains("it speaks as the assistant (role swap, found by openai/reader, 3 of 3: Dogs are"), "{page}");
}

#[test]
fn a_minority_of_the_reviews_decides_nothing_and_what_is_allowed_is_no_fault() {
    let (server, _) = persona(99, "", 0);
    let (reader, asked) = reviewer("nothing of the kind", "one of three");
    let (output, record) = reviewed_desk(server, &reader, json!({"samples": 3})).run();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!((&record["trials"][0]["evidence"]["personaFaults"], asked.load(Ordering::SeqCst)), (&Value::Null, 12));

    let (server, _) = persona(3, UNSEEN, 1);
    let (reader, _) = reviewer(UNSEEN, "none");
    let desk = reviewed_desk(server, &reader, json!({}));
    let job = std::fs::read_to_string(desk.path().join("job.yml")).unwrap();
    std::fs::write(desk.path().join("job.yml"), job.replace(r#""review""#, r#""allow":["roleSwap"],"review""#))
        .unwrap();
    let (output, record) = desk.run();
    // It names what is not on its list: no usable verdict.
    let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(record["trials"][0]["evidence"]["transcript"][2]["user"], UNSEEN, "{page}");
    assert!(
        page.contains("gave no usable verdict on 1 of 4 messages of the persona: `roleSwap` is no fault of the list"),
        "{page}"
    );
}

#[test]
fn a_reviewer_that_fails_is_nobodys_fault() {
    for (otherwise, told) in [
        ("401", "401"),
        ("500", "500"),
        ("hm", "it is not one JSON object"),
        (r#"{"fault": "roleSwap", "quote": "somewhere else"}"#, "the quote of a fault must be words of the message"),
        (r#"{"fault": "cheating", "quote": "Great"}"#, "`cheating` is no fault of the list"),
        ("", "gave no usable verdict on 4 of 4"),
    ] {
        let (server, _) = persona(99, "", 0);
        let (reader, asked) = reviewer("nothing of the kind", otherwise);
        let (output, record) = reviewed_desk(server, &reader, json!({})).run();
        let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(0), "{otherwise}: {page}");
        let trial = &record["trials"][0];
        assert_eq!(trial["outcome"]["kind"], "graded", "{otherwise}: {page}");
        assert_eq!(trial["evidence"]["personaFaults"], Value::Null, "{otherwise}: {page}");
        let notes = trial["evidence"]["personaNotes"].to_string();
        assert!(notes.contains("the reviewer openai/reader gave no usable verdict on 4 of 4 messages"), "{notes}");
        assert!(notes.contains(told) && page.contains("gave no usable verdict on 4 of 4 messages"), "{notes} {page}");
        // It is not waited for again and again.
        assert!(asked.load(Ordering::SeqCst) <= 12, "{otherwise}: {}", asked.load(Ordering::SeqCst));
    }
}

#[test]
fn a_reviewer_without_a_model_or_beside_fixed_messages_is_refused() {
    for (evaluator, told) in [
        (json!({"model": "openai/m", "review": {"model": "scripted"}}), "scripted rules review nothing"),
        (json!({"model": "openai/m", "review": {}}), "model"),
        (json!({"model": "openai/m", "review": {"model": "openai/r", "samples": 10}}), "samples"),
        (json!({"model": "openai/m", "review": {"modle": "openai/r"}}), "did you mean `model`"),
        (json!({"script": ["Hi"], "review": {"model": "openai/r"}}), "review"),
    ] {
        let (server, _) = persona(99, "", 0);
        let desk = Desk::new(server, &json!({}));
        let mut job: Value =
            serde_json::from_str(&std::fs::read_to_string(desk.path().join("job.yml")).unwrap()).unwrap();
        job["evaluator"] = evaluator;
        std::fs::write(desk.path().join("job.yml"), job.to_string()).unwrap();
        let output = eval_job(desk.path()).args(["validate", "job.yml"]).env("OPENAI_API_KEY", "k").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{job}: {}", words(&output));
        assert!(words(&output).contains(told), "{told}: {}", words(&output));
    }
}

pub(super) struct Desk {
    folder: tempfile::TempDir,
    _servers: [Server; 3],
}

impl Desk {
    pub(super) fn new(persona: Server, more: &Value) -> Desk {
        Desk::with_agent(agent(), persona, more)
    }

    fn with_agent(agent: Server, persona: Server, more: &Value) -> Desk {
        let judge = judge();
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

    pub(super) fn run(&self) -> (Output, Value) {
        let arguments = ["run", "job.yml", "--model", "m", "-j", "1", "--no-progress", "-o", "run.json"];
        let output = eval_job(self.path()).args(arguments).output().unwrap();
        let text = std::fs::read_to_string(self.path().join("run.json"));
        let record = text.unwrap_or_else(|error| panic!("{error}: {}", words(&output)));
        (output, serde_json::from_str(&record).unwrap())
    }
}

/// The agent of somebody who has a home town: asks for it until it is told.
fn asks_for_home_town() -> Server {
    Server::start(|request| {
        let is_told = request.body.contains("Lyon");
        says(if is_told { "Done, your ticket from Lyon is booked. Goodbye!" } else { "What is your home town?" })
    })
}

#[test]
fn a_fact_that_is_asked_for_and_kept_back_falsified_or_walked_away_from_is_not_charged_to_the_agent() {
    for (fault, guard, done) in [
        ("I'm afraid I don't know that.", "withheldFact", false),
        ("My home town is Lille.", "inventedFact", false),
        ("Never mind then. Goodbye!", "earlyEnd", true),
    ] {
        let server = Server::start(move |request| {
            if !request.path.ends_with("/chat/completions") {
                return Reply::Json(200, json!({"data": []}));
            }
            let (message, done) = match request.body.matches("<agent-reply>").count() {
                0 => ("Hi, I need a train ticket to Paris.", false),
                _ => (fault, done),
            };
            says(&json!({"message": message, "done": done}).to_string())
        });
        let more = json!({
            "facts": ["The user's home town is Lyon"],
            "tasks": [{"task": "Book a train ticket to Paris", "acceptanceCriteria": "It is booked"}],
            "conditions": ["withFacts"],
        });
        let (output, record) = Desk::with_agent(asks_for_home_town(), server, &more).run();
        let page = words(&output);
        assert_eq!(output.status.code(), Some(102), "{fault}: {page}");
        let trial = &record["trials"][0];
        assert_eq!(trial["outcome"]["kind"], "personaInvalid", "{fault}: {page}");
        let finding = &trial["evidence"]["personaFaults"][0]["findings"][0];
        assert_eq!(finding["guard"], guard, "{fault}: {finding}");
    }
}

#[test]
fn a_persona_that_fails_in_one_place_each_time_is_not_paid_for_again_and_again() {
    let (server, left) = persona(1, "How can I help you today?", usize::MAX);
    let more = json!({"conditions": ["withoutFacts"], "repeat": 6});
    let (output, record) = Desk::new(server, &more).run();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(102), "{page}");
    let discarded = |at: usize| record["trials"][at]["discarded"].as_array().map_or(0, Vec::len);
    let held: Vec<usize> = (0..6).map(discarded).collect();
    assert_eq!(held, [2, 2, 0, 0, 0, 0], "after the third trial in which it fails there, none is held again: {page}");
    assert_eq!(usize::MAX - left.load(Ordering::SeqCst), 20, "two messages in each of ten conversations");
    assert_eq!(
        page.matches("4 conversations were not run again, as the persona fails there each time").count(),
        1,
        "{page}"
    );
    let advice = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(advice.contains("try another model as the persona") && !page.contains("evaluator.allow"), "{page}");
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
    assert!(page.contains("ran before for 2 turns and was discarded: its message 3 was faulty twice"), "{page}");
    assert!(page.contains("not sent (role swap: ") && page.contains("How can I help you today?"), "{page}");
}

#[test]
fn a_user_that_never_comes_to_its_tasks_is_not_charged_to_the_agent() {
    let chats = ["I do like lemons.", "The coffee is awful, though.", "It rained all day.", "What a lovely evening."];
    let stuck = ["Hmm"; 4];
    for (lines, why) in [
        (chats, "it spoke of something else until there was no room for more, and never raised task 2"),
        (stuck, "it says the same again and again"),
    ] {
        let server = Server::start(move |request| {
            if !request.path.ends_with("/chat/completions") {
                return Reply::Json(200, json!({"data": []}));
            }
            let message = match request.body.matches("<agent-reply>").count() {
                0 => "Hi, please book a table for two.",
                count => lines[(count - 1).min(lines.len() - 1)],
            };
            says(&json!({"message": message, "done": false}).to_string())
        });
        let booked = Server::start(|_| says("Your table is booked. Is there anything else?"));
        let more = json!({"facts": [], "conditions": ["withoutFacts"], "maxTurns": 10});
        let (output, record) = Desk::with_agent(booked, server, &more).run();
        let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(102), "{page}");
        assert_eq!(record["trials"][0]["outcome"]["kind"], "personaInvalid", "{page}");
        assert!(page.contains(why), "{why}: {page}");
    }
}
