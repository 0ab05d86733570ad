use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::evidence::{Evidence, Transcript, Turn};
use crate::grade::grade;
use crate::job::Job;
use crate::score::{Score, Scorecard};

fn job(case: Value) -> Job {
    let say = json!({"url": "http://127.0.0.1:9/say", "body": {"text": "{{ message }}"}, "reply": "$.text",
                     "events": "$.steps"});
    let job = json!({"name": "j", "target": {"user": "u", "chatbot": "c", "http": {"say": say}}, "greetings": [],
                     "metrics": ["timing", "trajectory", "keywords", "assertions"], "aspirationalAverage": 1_000,
                     "cases": [case]});
    Job::restored(&job).unwrap()
}

fn graded(job: &Job, turns: Vec<Turn>, ending: Ending) -> Scorecard {
    let evidence = Evidence { transcript: Transcript { turns }, ending, ..Evidence::sample() };
    grade(GradeInput { job, case: &job.cases[0], evidence: &evidence, clock: Clock::system() }, &[])
}

fn answered(number: u32, events: Vec<Event>) -> Turn {
    Turn { events, latency_ms: Some(10.0), ..Turn::answered(number, "Yes", "Done.") }
}

fn errors(card: &Scorecard) -> Vec<(&str, bool)> {
    card.dimensions.iter().map(|it| (it.name.as_str(), it.component.is_missing())).collect()
}

#[test]
fn what_rests_on_lines_that_were_not_said_is_missing() {
    let order = || json!([{"tool": "order"}]);
    let job = job(json!({"id": "c", "maxTurns": 2, "expected": {"calls": order(), "keywords": ["thanks"]},
        "script": [{"say": "Yes", "expected": {"keywords": ["Done"]}}, "Order it"],
        "assertions": [{"name": "nothing is left", "expression": "evaluation.functionCalls.size == 0"}]}));
    let cut = graded(&job, vec![answered(1, vec![])], Ending::MaxTurns);
    assert_eq!(errors(&cut), [("timing", false), ("trajectory", true), ("keywords", true), ("assertions", true)]);
    let error = "maxTurns cut the script off: 1 of its 2 lines were not said; leave maxTurns out, or say 5";
    assert_eq!(cut.composite, Component::missing(cut.composite.why()));
    assert!(cut.composite.why().contains(error), "{:?}", cut.composite);
    let whole = graded(&job, vec![answered(1, vec![]), answered(2, vec![])], Ending::ScriptEnded);
    assert!(errors(&whole).iter().all(|(_, is_missing)| !is_missing), "{whole:?}");
    assert_eq!(whole.named("trajectory").and_then(|it| it.component.score()), Some(Score::ZERO));
}

#[test]
fn calls_in_a_shape_that_is_not_understood_are_not_known() {
    let job =
        job(json!({"id": "c", "script": ["Yes"], "expected": {"calls": [{"tool": "order"}], "keywords": ["Done"]},
        "assertions": [{"name": "called", "expression": "evaluation.functionCalls.size == 1"},
                       {"name": "said", "expression": "evaluation.transcript.size > 0"}]}));
    let with = |events: Vec<Value>| {
        let events = events.into_iter().map(Event::other).collect();
        graded(&job, vec![answered(1, events)], Ending::ScriptEnded)
    };
    let step = json!({"step": "order", "payload": {"size": "large"}});
    let unread = with(vec![json!({"type": "thinking", "text": "well"}), step]);
    assert_eq!(errors(&unread), [("timing", false), ("trajectory", true), ("keywords", false), ("assertions", true)]);
    let why = unread.named("trajectory").unwrap().component.why().to_owned();
    assert!(
        why.contains(r#"{"payload":{"size":"large"},"step":"order"}"#) || why.contains(r#""step":"order""#),
        "{why}"
    );
    assert!(why.contains("`events` of target.http"), "{why}");
    let said = &unread.named("assertions").unwrap().items[1];
    assert_eq!(said.component.score(), Some(Score::ONE));
    // Reports that are no calls leave nothing open.
    let silent = with(vec![json!({"type": "thinking", "text": "well"}), json!({"status": "searching"})]);
    assert_eq!(silent.named("trajectory").and_then(|it| it.component.score()), Some(Score::ZERO));
    // Where one call is understood, so is the shape.
    let call = Event::call("other", json!({}), Value::Null);
    let events = vec![Event::other(json!({"step": "plan", "payload": {}})), call];
    let read = graded(&job, vec![answered(1, events)], Ending::ScriptEnded);
    assert_eq!(read.named("trajectory").and_then(|it| it.component.score()), Some(Score::ZERO));
}
