use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::evidence::{Ending, Evidence, ObjectContext, Redelivery, Transcript, Turn};
use crate::grade::grade;
use crate::job::Job;
use crate::score::Scorecard;

fn job(metrics: Value, expected: Value) -> Job {
    let target = json!({"user": "u", "chatbot": "c", "openai": {"baseUrl": "http://127.0.0.1:9"}});
    let case = json!({"id": "c", "script": ["Book it"], "expected": expected});
    let job = json!({"name": "j", "target": target, "aspirationalAverage": 1_000, "greetings": [], "metrics": metrics, "cases": [case]});
    Job::restored(&job).unwrap()
}

/// Graded after a conversation whose only message was sent again for this reason, if it was.
fn graded(job: &Job, redelivered: Option<Redelivery>, reply: &str) -> Scorecard {
    let turn = Turn {
        redelivered,
        maybe_delivered: redelivered.is_some(),
        latency_ms: Some(500.0),
        ..Turn::answered(1, "Book it", reply)
    };
    let state = ObjectContext { context: json!({"booked": 1}), ..ObjectContext::default() };
    let evidence = Evidence {
        transcript: Transcript { turns: vec![turn] },
        object_context: Some(Observed::Seen(state)),
        ending: Ending::MaxTurns,
        ..Evidence::sample()
    };
    grade(GradeInput { job, case: &job.cases[0], evidence: &evidence, clock: Clock::system() }, &[])
}

#[test]
fn what_goes_badly_after_a_message_was_sent_again_is_not_charged_to_the_agent() {
    let metrics = json!(["keywords", "trajectory", "state", "timing"]);
    let job = job(metrics, json!({"keywords": ["booked"], "calls": [{"tool": "book"}], "state": {"booked": 1}}));
    let missing = |redelivered, reply: &str| {
        let card = graded(&job, redelivered, reply);
        ["keywords", "trajectory", "state", "timing"].map(|name| card.named(name).unwrap().component.is_missing())
    };
    let (good, bad) = ("It is booked", "I had done that before");
    assert_eq!([good, bad].map(|reply| missing(None, reply)), [[false; 4]; 2]);
    assert_eq!(missing(Some(Redelivery::AfterBreak), good), [false, true, false, false], "the call was not seen");
    assert_eq!(missing(Some(Redelivery::AfterBreak), bad), [true, true, false, false]);
    assert_eq!(missing(Some(Redelivery::AfterFailure), bad), [false, true, false, false]);
    let card = graded(&job, Some(Redelivery::AfterBreak), bad);
    assert!(card.composite.is_missing());
    let why = card.named("keywords").unwrap().component.why();
    assert!(why.contains("turn 1 was sent again since eval-job was cut off"), "{why}");
}

#[test]
fn what_reaches_its_threshold_counts() {
    let metrics = |threshold: f64| json!([{"rouge": {"type": "rouge1"}, "threshold": threshold}]);
    let reply = "The table is booked for you";
    let component = |threshold: f64| {
        let job = job(metrics(threshold), json!({"reply": "The table is booked"}));
        graded(&job, Some(Redelivery::AfterBreak), reply).named("rouge").unwrap().component.clone()
    };
    let reached = component(0.5);
    assert!(reached.score().is_some_and(|score| score.get() > 0.5 && score.get() < 1.0), "{reached:?}");
    assert!(component(0.95).is_missing());
}
