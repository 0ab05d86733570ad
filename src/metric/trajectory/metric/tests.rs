use serde_json::{Value, json};

use super::*;
use crate::evidence::{Event, Turn};
use crate::metric::input::Example;

fn metric(options: Value) -> TrajectoryMetric {
    TrajectoryMetric { weight: Weight::ONE, check: serde_json::from_value(options).unwrap() }
}

/// The agent calls `book` with these arguments; `expected` is what the case expects.
fn example(args: Value) -> Example {
    let mut example = Example::new(0);
    let events = vec![Event::call("book", args, json!({}))];
    example.transcript.turns = vec![Turn { events, ..Turn::answered(1, "Book", "Booked") }];
    example
}

fn score(options: Value, expected: Value, args: Value) -> Component {
    let expected: Expectation = serde_json::from_value(json!({"calls": [expected]})).unwrap();
    assert_eq!(expected.problems(), []);
    let example = example(args);
    let input = MetricInput { expected: Some(&expected), ..example.input() };
    metric(options).score(&input, &[]).component
}

#[test]
fn a_script_compares_an_argument_of_a_call_or_of_a_tool() {
    let wanted = |script: &str| json!({"tool": "book", "args": {"price": 10, "a.b": 1}, "match": {"price": {"compare": script}}});
    let near = "actual >= expected * 0.9 && actual <= expected * 1.1";
    assert_eq!(score(json!({}), wanted(near), json!({"price": 11, "a.b": 1})).score(), Some(Score::ONE));
    let far = score(json!({}), wanted(near), json!({"price": 12, "a.b": 1}));
    assert_eq!(far.score(), Some(Score::ZERO));
    assert!(far.why().contains("args.price: expected 10, got 12 (by its script)"), "{}", far.why());
    let rules = json!({"tools": {"book": {"arguments": {"compare": "actual.price < expected.price"}}}});
    let plain = json!({"tool": "book", "args": {"price": 10}});
    assert_eq!(score(rules.clone(), plain.clone(), json!({"price": 9})).score(), Some(Score::ONE));
    assert_eq!(score(rules, plain, json!({"price": 10})).score(), Some(Score::ZERO));
}

#[test]
fn what_a_script_cannot_tell_is_missing_unless_the_calls_differ_anyway() {
    let wanted = json!({"tool": "book", "args": {"price": 10, "to": "Rome"}, "match": {"price": {"compare": "actual < expected"}}});
    let unknown = score(json!({}), wanted.clone(), json!({"price": "ten", "to": "Rome"}));
    assert_eq!(
        unknown,
        Component::missing("price: its script could not tell: `<` can't compare the text \"ten\" with the number 10")
    );
    assert_eq!(score(json!({}), wanted.clone(), json!({"price": "ten", "to": "Bern"})).score(), Some(Score::ZERO));
    let partly = score(json!({"score": "parameterMatch"}), wanted, json!({"price": "ten", "to": "Bern"}));
    assert!(partly.is_missing(), "{partly:?}");
}

#[test]
fn scripts_of_all_calls_together_have_one_time_limit() {
    let endless = "let n = 0; for i in 0..900000 { n += 1; } n < actual";
    let call = |at: usize| json!({"tool": "book", "args": {"n": at}, "match": {"n": {"compare": endless}}});
    let expected: Expectation =
        serde_json::from_value(json!({"calls": (0..60).map(call).collect::<Vec<_>>()})).unwrap();
    let actual: Vec<ToolUse> = (0..60).map(|at| ToolUse::new("book", json!({"n": at}))).collect();
    let clock = crate::clock::Clock::system();
    let (started, deadline) = (clock.start(), clock.deadline(std::time::Duration::from_millis(200)));
    let component = metric(json!({"order": "anyOrder"})).compare(&expected, &actual, &[], deadline);
    assert!(component.why().contains("took longer than 0.2 s"), "{}", component.why());
    assert!(started.elapsed_ms() < 5_000.0, "{} ms", started.elapsed_ms());
}
