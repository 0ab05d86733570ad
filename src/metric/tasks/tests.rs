use proptest::prelude::*;

use super::*;
use crate::evidence::{Condition, Transcript, Turn, Usage};
use crate::metric::CaseTask;

fn case(replies: bool) -> Case {
    let turn = Turn {
        number: 1,
        user: "Hello".to_owned(),
        agent: replies.then(|| "Hi".to_owned()),
        events: Vec::new(),
        latency_ms: replies.then_some(1.0),
        failures: Vec::new(),
        maybe_delivered: false,
        usage: None,
    };
    let task = |text: &str| CaseTask { task: text.to_owned(), acceptance_criteria: "done".to_owned() };
    Case {
        tasks: vec![task("one"), task("two")],
        condition: Condition::WithFacts,
        transcript: Transcript { turns: vec![turn] },
        judge_prompt: Some("prompt".to_owned()),
        judge_temperature: 0.0,
        aspirational_average_ms: None,
    }
}

fn judgement(reply: Observed<String>) -> Judgement {
    Judgement { metric: "tasks".to_owned(), model: "m".to_owned(), reply, rejected: Vec::new(), usage: Usage::default() }
}

fn verdict(tasks: &str) -> String {
    format!(r#"{{"tasks": [{tasks}], "tone": {{"reason": "kind", "score": 0.9}}}}"#)
}

const GOOD: &str = r#"{"index": 2, "reason": "half", "score": 0.5}, {"index": 1, "reason": "all", "score": 1}"#;

#[test]
fn scores_are_matched_by_index_whatever_their_order() {
    let dimensions = Tasks.score(&case(true), Some(&judgement(Observed::Seen(verdict(GOOD)))));
    assert_eq!(dimensions[0].component.score(), Score::new(0.75));
    assert_eq!(dimensions[0].items[0].component, Component::scored(Score::ONE, "all"));
    assert_eq!((dimensions[1].name.as_str(), dimensions[1].weight), ("tone", Weight::ZERO));
}

#[test]
fn what_is_wrong_with_a_reply_is_said_in_words_for_the_judge() {
    let cases = [
        ("It went well.".to_owned(), "it is not the JSON object that was asked for"),
        (r#"{"tasks": 5}"#.to_owned(), "it has no list \"tasks\""),
        (verdict(r#"{"index": 1, "reason": "r", "score": 1}"#), "it has no entry for task 2"),
        (verdict(""), "it has no entry for task 1, 2"),
        (verdict(&format!(r#"{GOOD}, {{"index": 1, "reason": "r", "score": 1}}"#)), "task 1 has two entries"),
        (verdict(r#"{"index": 3, "reason": "r", "score": 1}"#), "there is no task 3: the tasks are 1 to 2"),
        (verdict(r#"{"index": 0, "reason": "r", "score": 1}"#), "there is no task 0"),
        (verdict(r#"{"index": 1, "reason": "r", "score": 8}"#), "the score of task 1 is 8, which is not from 0 to 1"),
        (verdict(r#"{"index": 1, "reason": "r", "score": -0.1}"#), "the score of task 1 is -0.1"),
        (verdict(r#"{"index": 1, "reason": "r", "score": "1"}"#), "task 1 has no number as \"score\""),
        (verdict(r#"{"index": 1, "reason": "r", "score": NaN}"#), "it is not the JSON object"),
        (verdict(r#"{"index": 1, "reason": " ", "score": 1}"#), "task 1 has no \"reason\""),
        (verdict(r#"{"reason": "r", "score": 1}"#), "no whole number as \"index\""),
        (format!(r#"{{"tasks": [{GOOD}]}}"#), "\"tone\" has no \"reason\""),
    ];
    for (raw, expected) in cases {
        let error = Tasks.read(&case(true), &raw).unwrap_err();
        assert!(error.contains(expected), "{raw}\n{error}");
    }
}

#[test]
fn a_judge_that_failed_makes_the_tasks_missing_and_leaves_tone_out() {
    let dimensions = Tasks.score(&case(true), Some(&judgement(Observed::Failed("prose".to_owned()))));
    assert_eq!(dimensions.len(), 1);
    assert_eq!(dimensions[0].component, Component::missing("prose"));
    assert!(Tasks.score(&case(true), None)[0].component.is_missing());
}

#[test]
fn an_agent_that_never_replied_scores_zero_without_a_question() {
    assert!(Tasks.questions(&case(false)).is_empty());
    assert_eq!(Tasks.questions(&case(true)).len(), 1);
    assert_eq!(Tasks.score(&case(false), None)[0].component.score(), Some(Score::ZERO));
}

proptest! {
    #[test]
    fn no_reply_can_make_it_panic(raw in "\\PC{0,80}") {
        let _ = Tasks.read(&case(true), &raw);
    }

    #[test]
    fn a_usable_verdict_always_scores(one in 0.0..=1.0f64, two in 0.0..=1.0f64) {
        let raw = verdict(&format!(r#"{{"index":1,"reason":"r","score":{one}}},{{"index":2,"reason":"r","score":{two}}}"#));
        prop_assert_eq!(Tasks.read(&case(true), &raw), Ok(()));
        let dimensions = Tasks.score(&case(true), Some(&judgement(Observed::Seen(raw))));
        let mean = dimensions[0].component.score().unwrap().get();
        prop_assert!((mean - (one + two) / 2.0).abs() < 1e-9);
    }
}
