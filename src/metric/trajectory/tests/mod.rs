mod any;
mod goals;
mod rules;
mod unknown;

use serde_json::{Value, json};

use super::*;
use crate::evidence::ToolUse;

fn config(options: Value) -> TrajectoryConfig {
    serde_json::from_value(options).unwrap()
}

fn wanted(call: Value) -> ExpectedCall {
    serde_json::from_value(call).unwrap()
}

fn made(call: &Value) -> ToolUse {
    ToolUse {
        result: call.get("result").cloned().map(Into::into),
        ..ToolUse::new(call["tool"].as_str().unwrap(), call.get("args").cloned().unwrap_or_default())
    }
}

fn compare_with(options: Value, expected: Value, actual: Value, answers: &dyn FuzzyAnswers) -> Trajectory {
    let expected: Vec<ExpectedCall> = expected.as_array().unwrap().iter().cloned().map(wanted).collect();
    let actual: Vec<ToolUse> = actual.as_array().unwrap().iter().map(made).collect();
    let input = TrajectoryInput { expected: &expected, actual: &actual, ..TrajectoryInput::default() };
    TrajectoryMatcher::new(&config(options)).unwrap().compare(input, answers).unwrap()
}

fn compare(options: Value, expected: Value, actual: Value) -> Trajectory {
    compare_with(options, expected, actual, &LettersOnly)
}

/// Whether one call with these arguments is the expected one by these rules.
fn args_match(options: Value, expected: Value, rules: Value, actual: Value) -> bool {
    let expected = json!([{"tool": "t", "args": expected, "match": rules}]);
    let trajectory = compare(options, expected, json!([{"tool": "t", "args": actual}]));
    assert_eq!(trajectory.explanation.is_none(), trajectory.is_match == Some(true));
    trajectory.is_match.unwrap()
}

#[test]
fn a_matcher_is_shared_between_trials() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<TrajectoryMatcher>();
}

#[test]
fn the_figures_are_those_of_the_best_pairs() {
    let expected = json!([
        {"tool": "search", "args": {"city": "Rome", "rooms": 1}},
        {"tool": "book", "args": {"hotel": 7}},
        {"tool": "pay"},
    ]);
    let actual = json!([
        {"tool": "search", "args": {"city": "Rome", "rooms": 2}},
        {"tool": "book", "args": {"hotel": 7}},
        {"tool": "log", "args": {}},
        {"tool": "log", "args": {}},
    ]);
    let trajectory = compare(json!({"order": "anyOrder", "singleTool": "book"}), expected, actual);
    let figures = trajectory.figures;
    assert_eq!((figures.expected, figures.total, figures.correct, figures.relevant), (3, 4, 1, 2));
    assert_eq!((figures.incorrect_parameters, figures.missed), (1, 1));
    assert_eq!((figures.precision, figures.recall), (Some(0.25), Some(1.0 / 3.0)));
    assert_eq!((figures.single_tool_use, figures.parameter_match), (Some(1.0), Some(0.5)));
    // Of `search` one of two, of `book` all, and `pay` has no arguments to compare.
    assert_eq!(figures.parameter_f1, Some((2.0 / 3.0 + 1.0) / 2.0));
    assert!((figures.get(TrajectoryFigure::F1).unwrap() - 2.0 / 7.0).abs() < 1e-12);
    let nothing = compare(json!({}), json!([]), json!([])).figures;
    assert_eq!((nothing.is_match, nothing.precision, nothing.recall), (Some(1.0), Some(1.0), Some(1.0)));
}

#[test]
fn what_differed_is_one_readable_block() {
    let expected = json!([
        {"tool": "search", "args": {"city": "Rome", "to": {"day": 3}}},
        {"tool": "book", "name": "book-1", "args": {"hotel": 7}},
        {"tool": "pay", "args": {"sum": 10}},
    ]);
    let actual = json!([
        {"tool": "search", "args": {"city": "Rome", "to": {"day": 4}}},
        {"tool": "book", "args": {"hotel": 7}},
        {"tool": "cancel", "args": {}},
    ]);
    let trajectory = compare(json!({}), expected, actual);
    assert_eq!(
        trajectory.explanation.unwrap(),
        "1 of 3 expected calls were made in this order\n  \
           first divergence: call 1, search: args.to.day: expected 3, got 4\n  \
           ! 1. search {\"city\":\"Rome\",\"to\":{\"day\":4}}\n     \
              expected search {\"city\":\"Rome\",\"to\":{\"day\":3}}\n     \
              args.to.day: expected 3, got 4\n  \
           = 2. book {\"hotel\":7}\n  \
           + 3. cancel {}\n  \
           - missing: pay {\"sum\":10}"
    );
    let long = json!([{"tool": "f", "args": {"text": "x\n".repeat(1000)}}]);
    let block = compare(json!({}), long, json!([{"tool": "f", "args": {"text": "y"}}])).explanation.unwrap();
    assert!(block.len() < 1_000 && block.contains("args.text: expected \"x\\nx"), "{block}");
    let many: Vec<Value> = (0..100).map(|at| json!({"tool": "f", "args": {"n": at}})).collect();
    let block = compare(json!({}), json!([]), json!(many)).explanation.unwrap();
    assert!(block.ends_with("… and 62 more lines"), "{block}");
    let swapped = compare(
        json!({"order": "inOrder"}),
        json!([{"tool": "a"}, {"tool": "b"}]),
        json!([{"tool": "b"}, {"tool": "a"}]),
    );
    assert!(swapped.explanation.unwrap().starts_with("1 of 2 expected calls were made in this order"));
}
