use serde_json::json;

use super::*;
use crate::evidence::{Condition, Event, Transcript, TrialId, Turn};
use crate::grade::vacuous::tests::AnyTemplate;
use crate::job::load;

/// A conversation of one turn with these calls, beside what a job expects.
fn reviewed(metrics: &str, expected: &str, made: &[(&str, serde_json::Value)]) -> ExpectationReview {
    let text = format!(
        "target: {{user: u, chatbot: c}}\ngreetings: []\nisolation: shared\nmetrics: [{metrics}]\ncases: [{{id: a, script: [{{say: Hi, expected: {expected}}}]}}]\n"
    );
    let job = load("job.yml", &text, &AnyTemplate).unwrap();
    let trial =
        TrialId { number: 1, case: "a".to_owned(), model: "m".to_owned(), condition: Condition::WithFacts, repeat: 1 };
    let mut evidence = Evidence::new("s".to_owned(), "u".to_owned(), &trial);
    let mut turn = Turn::answered(1, "Hi", "Hello");
    turn.events =
        made.iter().map(|(tool, args)| Event::call(*tool, args.clone(), json!({"name": tool, "args": args}))).collect();
    evidence.transcript = Transcript { turns: vec![turn] };
    review(&job, &job.cases[0], &evidence)
}

fn findings(review: &ExpectationReview) -> Vec<&CallFinding> {
    review.made.iter().map(|made| &made.finding).collect()
}

#[test]
fn each_call_is_classified_beside_the_expected_ones() {
    let calls = "{calls: [{tool: find, args: {city: Rome}}, {tool: book, args: {n: 2}}, {tool: pay}]}";
    let made = [("find", json!({"city": "Paris"})), ("book", json!({"n": 2})), ("noise", json!({}))];
    let review = reviewed("trajectory", calls, &made);
    let differs = CallFinding::Differs(vec![ValueDifference {
        path: "args.city".to_owned(),
        expected: Some("Rome".into()),
        actual: Some("Paris".into()),
    }]);
    assert_eq!(findings(&review), [&differs, &CallFinding::AsExpected, &CallFinding::NotExpected]);
    let missed: Vec<_> = review.missed.iter().map(|missed| (missed.turn, missed.call.tool.as_str())).collect();
    assert_eq!((missed, review.expected), (vec![(Some(1), "pay")], 3));
    assert_eq!(review.turns[0].calls.as_ref().unwrap().len(), 3);
}

#[test]
fn a_call_at_another_place_is_out_of_order() {
    let calls = "{calls: [{tool: a}, {tool: b}]}";
    let review = reviewed("trajectory", calls, &[("b", json!({})), ("a", json!({}))]);
    let findings = findings(&review);
    assert!(findings.contains(&&CallFinding::OutOfOrder) && review.missed.is_empty(), "{findings:?}");
}

#[test]
fn without_a_metric_that_compares_them_calls_are_not_judged() {
    let made = [("find", json!({})), ("find", json!({}))];
    let review = reviewed("{keywords: {}}", "{keywords: [x], calls: [{tool: find}]}", &made);
    assert_eq!(findings(&review), [&CallFinding::Unjudged; 2]);
    let review = reviewed("{trajectory: {order: anyOrder, count: subset}}", "{calls: [{tool: find}]}", &made);
    assert_eq!(findings(&review), [&CallFinding::AsExpected, &CallFinding::Unjudged]);
}
