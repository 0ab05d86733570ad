//! A persona that fails in one place again and again, beside conversations that get through.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::persona_faults::{Desk, good, says};
use super::words;
use crate::servers::http::{Reply, Request, Server};

const SWAPPED: &str = "How can I help you today?";

/// A persona whose first message is faulty where `fails` says so.
fn persona(fails: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Server {
    Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let is_first = request.body.matches("<agent-reply>").count() == 0;
        let (message, done) = if is_first && fails(request) { (SWAPPED, false) } else { good(request) };
        says(&json!({"message": message, "done": done}).to_string())
    })
}

/// How often each conversation was held again, by its condition.
fn discarded(record: &Value, condition: &str) -> Vec<usize> {
    let trials = record["trials"].as_array().unwrap().iter().filter(|trial| trial["trial"]["condition"] == condition);
    trials.map(|trial| trial["discarded"].as_array().map_or(0, Vec::len)).collect()
}

#[test]
fn a_condition_in_which_none_gets_through_is_given_up_though_others_do() {
    let server = persona(|request| !request.body.contains("come at 19:00"));
    let (output, record) = Desk::new(server, &json!({"repeat": 5})).run();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(102), "{page}");
    assert_eq!(discarded(&record, "withFacts"), [0; 5], "{page}");
    assert_eq!(discarded(&record, "withoutFacts"), [2, 2, 0, 0, 0], "{page}");
}

#[test]
fn where_one_got_through_the_others_are_held_again() {
    let asked = AtomicUsize::new(0);
    // The first conversation begins well, and no other.
    let server = persona(move |_| asked.fetch_add(1, Ordering::SeqCst) > 0);
    let more = json!({"conditions": ["withoutFacts"], "repeat": 5});
    let (output, record) = Desk::new(server, &more).run();
    let page = words(&output);
    assert_eq!(discarded(&record, "withoutFacts"), [0, 2, 2, 2, 2], "{page}");
    assert!(!page.contains("were not run again"), "{page}");
}

#[test]
fn failures_in_different_places_are_none_of_one_place() {
    let asked = AtomicUsize::new(0);
    // Each second conversation fails in another way.
    let server = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        // Two messages in each of three conversations of a trial.
        let trial = asked.fetch_add(1, Ordering::SeqCst) / 6;
        let message = if trial.is_multiple_of(2) { SWAPPED } else { "[Turn 1] I'd like to book a table." };
        says(&json!({"message": message, "done": false}).to_string())
    });
    let more = json!({"conditions": ["withoutFacts"], "repeat": 4});
    let (output, record) = Desk::new(server, &more).run();
    assert_eq!(discarded(&record, "withoutFacts"), [2; 4], "{}", words(&output));
}
