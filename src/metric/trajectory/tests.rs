use proptest::prelude::*;
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
        result: call.get("result").cloned(),
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
fn each_rule_does_what_it_says() {
    for (expected, rules, actual, same) in [
        (json!({"a": 1}), json!({}), json!({"a": 1.0}), true),
        (json!({"a": 1}), json!({}), json!({"a": 1, "b": 2}), false),
        (json!({"a": 1}), json!({"b": "optional"}), json!({"a": 1, "b": 2}), true),
        (json!({"a": "x"}), json!({"a": "ignore"}), json!({}), true),
        (json!({"a": "x"}), json!({"a": "optional"}), json!({}), true),
        (json!({"a": "x"}), json!({"a": "optional"}), json!({"a": "y"}), false),
        (json!({"a": "New"}), json!({"a": "contains"}), json!({"a": "In New York"}), true),
        (json!({"a": "new"}), json!({"a": "contains"}), json!({"a": "In New York"}), false),
        (
            json!({"a": "new"}),
            json!({"a": {"rule": "contains", "caseInsensitive": true}}),
            json!({"a": "In New York"}),
            true,
        ),
        (json!({"a": [1]}), json!({"a": "contains"}), json!({"a": [2, 1]}), true),
        (json!({"a": {"x": 1}}), json!({"a": "contains"}), json!({"a": {"x": 1, "y": 2}}), true),
        (json!({"a": "^[A-Z]{2}\\d+$"}), json!({"a": "regex"}), json!({"a": "AB12"}), true),
        (json!({"a": "^[A-Z]{2}\\d+$"}), json!({"a": "regex"}), json!({"a": "AB12x"}), false),
        (json!({"a": "("}), json!({"a": "regex"}), json!({"a": "("}), false),
        (json!({"a": "7"}), json!({"a": "regex"}), json!({"a": 17}), true),
        (json!({"a": 1}), json!({"a": {"number": 0.5}}), json!({"a": 1.4}), true),
        (json!({"a": 1}), json!({"a": {"number": 0.5}}), json!({"a": 1.6}), false),
        (json!({"a": {"b": [1, 2]}}), json!({"a": {"number": 0.5}}), json!({"a": {"b": [1.4, 2]}}), true),
        (json!({"a": "2024-03-05"}), json!({"a": "date"}), json!({"a": "5 Mar 2024"}), true),
        (json!({"a": "2024-03-05"}), json!({"a": "date"}), json!({"a": "2024-03-06"}), false),
        (json!({"a": 0}), json!({"a": {"schema": {"type": "integer", "minimum": 3}}}), json!({"a": 4}), true),
        (json!({"a": 0}), json!({"a": {"schema": {"type": "integer", "minimum": 3}}}), json!({"a": 2}), false),
        (json!({"a": 2}), json!({"a": {"schema": {"type": "integer"}, "rule": "strict"}}), json!({"a": 3}), false),
        (
            json!({"a": {"x": 1, "y": 2}}),
            json!({"a": {"onlyPaths": ["x"]}}),
            json!({"a": {"x": 1, "y": 3, "z": 4}}),
            true,
        ),
        (json!({"a": {"x": 1}}), json!({"a": {"onlyPaths": ["y"]}}), json!({"a": {"x": 1}}), false),
        (
            json!({"a": {"x": {"t": 1, "u": 1}}}),
            json!({"a": {"ignorePaths": ["x.t"]}}),
            json!({"a": {"x": {"t": 2, "u": 1}}}),
            true,
        ),
        (
            json!({"a": {"x": {"t": 1, "u": 1}}}),
            json!({"a": {"ignorePaths": ["x.t"]}}),
            json!({"a": {"x": {"t": 2, "u": 2}}}),
            false,
        ),
        (
            json!({"a": [{"t": 1, "u": 1}]}),
            json!({"a": {"ignorePaths": ["t"]}}),
            json!({"a": [{"t": 2, "u": 1}]}),
            true,
        ),
        (
            json!({"a": [{"p": 1.0}, {"p": 2.0}]}),
            json!({"a.p": {"number": 0.1}}),
            json!({"a": [{"p": 1.05}, {"p": 2.0}]}),
            true,
        ),
        (json!({"a": [1, 2]}), json!({"a": {"listOrder": false}}), json!({"a": [2, 1]}), true),
        (json!({"a": [1, 2]}), json!({}), json!({"a": [2, 1]}), false),
        (json!({"a": "xy"}), json!({"a": {"length": {"max": 3}}}), json!({"a": "日本語"}), true),
        (json!({"a": "xy"}), json!({"a": {"length": {"max": 3}}}), json!({"a": "abcd"}), false),
        (
            json!({"in": {"m": 5, "t": "x"}}),
            json!({"in": "ignore", "in.t": "strict"}),
            json!({"in": {"m": 6, "t": "y"}}),
            false,
        ),
        (json!({"in": {"m": 5, "t": "x"}}), json!({"in": "ignore", "in.t": "strict"}), json!({"in": {"t": "x"}}), true),
        (json!({"in": {"m": 5, "t": "x"}}), json!({"in": "ignore", "in.t": "strict"}), json!({}), false),
        (json!({"a": "booking confirmed"}), json!({"a": "fuzzy"}), json!({"a": "Booking is confirmed"}), true),
        (json!({"a": "booking confirmed"}), json!({"a": "fuzzy"}), json!({"a": "no rooms left"}), false),
        (json!({"a": "10.0005"}), json!({"a": "fuzzy"}), json!({"a": 10}), true),
        (json!(null), json!({}), json!({}), true),
        (json!(null), json!({}), json!({"a": 1}), false),
        (json!({}), json!({}), json!(null), true),
    ] {
        let shown = format!("{expected} by {rules}: {actual}");
        assert_eq!(args_match(json!({}), expected, rules, actual), same, "{shown}");
    }
}

#[test]
fn options_hold_for_all_tools_or_for_one() {
    let (expected, actual) = (json!({"a": "X", "t": 1}), json!({"a": "x", "t": 2}));
    for (options, same) in [
        (json!({}), false),
        (json!({"caseInsensitive": true}), false),
        (json!({"caseInsensitive": true, "args": {"t": "ignore"}}), true),
        (json!({"tools": {"t": {"args": {"t": "ignore", "a": "optional"}}}, "caseInsensitive": true}), true),
        (json!({"tools": {"u": {"args": {"t": "ignore"}}}, "caseInsensitive": true}), false),
        (json!({"tools": {"t": {"arguments": "ignore"}}}), true),
        (json!({"defaultRules": {"arguments": {"ignorePaths": ["t"], "caseInsensitive": true}}}), true),
        (json!({"arguments": false}), true),
    ] {
        assert_eq!(args_match(options.clone(), expected.clone(), json!({}), actual.clone()), same, "{options}");
    }
    let both = json!([{"tool": "f", "result": {"r": 1}}]);
    assert_eq!(compare(json!({}), both.clone(), json!([{"tool": "f", "result": {"r": 2}}])).is_match, Some(false));
    assert_eq!(
        compare(json!({"results": false}), both, json!([{"tool": "f", "result": {"r": 2}}])).is_match,
        Some(true)
    );
    let without = json!([{"tool": "f"}]);
    assert_eq!(compare(json!({}), without, json!([{"tool": "f", "args": {"a": 1}, "result": 3}])).is_match, Some(true));
}

#[test]
fn a_matcher_is_shared_between_trials() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<TrajectoryMatcher>();
}

#[test]
fn overlapping_rules_are_matched_optimally() {
    // The first expected call fits both; taken first, it would leave nothing for the second.
    let expected = json!([
        {"tool": "f", "args": {"a": 0}, "match": {"a": "ignore"}},
        {"tool": "f", "args": {"a": 1}},
    ]);
    let actual = json!([{"tool": "f", "args": {"a": 1}}, {"tool": "f", "args": {"a": 2}}]);
    let trajectory = compare(json!({"order": "anyOrder"}), expected.clone(), actual.clone());
    assert_eq!((trajectory.is_match, trajectory.pairs), (Some(true), vec![Some(1), Some(0)]));
    assert_eq!(compare(json!({"order": "inOrder"}), expected, actual).is_match, Some(false));
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

#[test]
fn texts_that_may_mean_the_same_are_asked_only_where_everything_else_is_the_same() {
    let expected: Vec<ExpectedCall> = [("send", "a kind greeting", 1), ("send", "a warm farewell", 2)]
        .map(|(tool, text, to)| {
            wanted(json!({"tool": tool, "args": {"text": text, "to": to}, "match": {"text": "fuzzy"}}))
        })
        .into();
    let actual = [
        ToolUse::new("send", json!({"text": "hello dear", "to": 1})),
        ToolUse::new("send", json!({"text": "see you soon", "to": 3})),
        ToolUse::new("other", json!({"text": "x", "to": 2})),
    ];
    let matcher = TrajectoryMatcher::new(&config(json!({"order": "anyOrder"}))).unwrap();
    let input = TrajectoryInput { expected: &expected[..1], actual: &actual, ..TrajectoryInput::default() };
    let questions = matcher.fuzzy_questions(input).unwrap();
    let pair = FuzzyPair { expected: "a kind greeting".to_owned(), actual: "hello dear".to_owned() };
    assert_eq!((questions.pairs, questions.left_out), (vec![pair], 0));
    for (answer, is_match, who) in [
        (FuzzyAnswer::Judged(true), Some(true), "the judge: the same"),
        (FuzzyAnswer::Judged(false), Some(false), "the judge: not the same"),
        (FuzzyAnswer::Cosine(0.81), Some(true), "embeddings: cosine 0.81, 0.8 needed"),
        (FuzzyAnswer::Cosine(0.79), Some(false), "embeddings: cosine 0.79, 0.8 needed"),
        (FuzzyAnswer::Local, Some(false), "letters: WRatio"),
        (FuzzyAnswer::Missing("the judge was not asked".to_owned()), None, "the judge was not asked"),
    ] {
        let trajectory = matcher.compare(input, &|_: &FuzzyPair| answer.clone()).unwrap();
        assert_eq!(trajectory.is_match, is_match, "{answer:?}");
        let told = trajectory.explanation.clone().unwrap_or_default() + trajectory.decisions.join("\n").as_str();
        assert!(told.contains(who), "{told}");
        assert_eq!(trajectory.missing.is_some(), is_match.is_none());
    }
    // What is not known does not matter where it can not change anything.
    let input = TrajectoryInput { expected: &expected, ..input };
    let unknown = |_: &FuzzyPair| FuzzyAnswer::Missing("not asked".to_owned());
    assert_eq!(matcher.compare(input, &unknown).unwrap().is_match, Some(false));
}

#[test]
fn whole_numbers_beyond_64_bits_are_never_taken_for_the_same() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let run = |options: Value, expected: &str, actual: &str| {
        let call = |text: &str| json!([{"tool": "f", "args": {"a": [number(text)]}}]);
        compare(options, call(expected), call(actual))
    };
    let (long, next) = ("123456789012345678901234567890", "123456789012345678901234567891");
    let unknown = run(json!({}), long, next);
    assert_eq!(unknown.is_match, None);
    assert!(unknown.missing.unwrap().starts_with("a whole number beyond 64 bits"));
    assert_eq!(run(json!({"dialect": "adk", "strict": true}), long, next).is_match, None);
    assert_eq!(run(json!({"listOrder": false}), long, next).is_match, None);
    assert_eq!(run(json!({}), long, "123456789012345778901234567890").is_match, Some(false));
    assert_eq!(run(json!({"tolerance": 1}), long, next).is_match, Some(true));
    assert_eq!(run(json!({}), "-9223372036854775809", "-9223372036854775808").is_match, None);
    for (a, b, same) in [
        ("18446744073709551615", "18446744073709551615", true),
        ("18446744073709551615", "18446744073709551614", false),
        ("1e18", "1e18", true),
    ] {
        assert_eq!(run(json!({}), a, b).is_match, Some(same), "{a} {b}");
    }
    // Go reads them as floating-point numbers.
    assert_eq!(run(json!({"dialect": "trpc", "strict": true}), long, next).is_match, Some(true));
}

#[test]
fn what_is_not_known_of_a_call_that_differs_anyway_is_a_doubt_about_its_parts() {
    let expected = json!([{"tool": "f", "args": {"a": "x", "b": 1}, "match": {"a": "fuzzy"}}]);
    let unknown = |_: &FuzzyPair| FuzzyAnswer::Missing("not asked".to_owned());
    let run =
        |a: &str| compare_with(json!({}), expected.clone(), json!([{"tool": "f", "args": {"a": a, "b": 2}}]), &unknown);
    assert_eq!((run("y").is_match, run("y").doubt.as_deref()), (Some(false), Some("a: not asked")));
    assert_eq!((run("x").is_match, run("x").doubt), (Some(false), None));
}

#[test]
fn what_is_not_known_decides_a_journey_only_where_each_way_ends_the_same() {
    let options = json!({"dialect": "watsonx", "strict": true});
    let call = |name: &str, text: &str, rules: Value| json!({"name": name, "tool": "get", "args": {"a": text}, "match": rules});
    let run = |expected: Value, actual: Value| {
        let answers = |pair: &FuzzyPair| match pair.actual.as_str() {
            "p" | "q" => FuzzyAnswer::Missing("not asked".to_owned()),
            _ => FuzzyAnswer::Judged(pair.expected == pair.actual),
        };
        compare_with(options.clone(), expected, actual, &answers).is_match
    };
    let get = |text: &str| json!({"tool": "get", "args": {"a": text}});
    let (open, only) = (call("one", "open", json!({"a": "fuzzy"})), call("two", "p", json!({})));
    let both = json!([open.clone(), only.clone()]);
    assert_eq!(run(both.clone(), json!([get("open"), get("p")])), Some(true));
    assert_eq!(run(both.clone(), json!([get("q"), get("p")])), None);
    // Credited to the first goal, the first call leaves the second goal without one.
    assert_eq!(run(both.clone(), json!([get("p"), get("open")])), None);
    assert_eq!(run(both, json!([get("q"), get("q")])), Some(false), "whatever it means");
    assert_eq!(run(json!([open, only]), json!([get("p")])), Some(false), "too few");
}

#[test]
fn a_judge_is_asked_about_fifty_pairs_at_most() {
    let expected: Vec<ExpectedCall> = (0..9)
        .map(|at| wanted(json!({"tool": "f", "args": {"a": format!("text no {at} of them")}, "match": {"a": "fuzzy"}})))
        .collect();
    let actual: Vec<ToolUse> =
        (0..9).map(|at| ToolUse::new("f", json!({"a": format!("other words {at} here")}))).collect();
    let matcher = TrajectoryMatcher::new(&config(json!({"order": "anyOrder"}))).unwrap();
    let input = TrajectoryInput { expected: &expected, actual: &actual, ..TrajectoryInput::default() };
    let questions = matcher.fuzzy_questions(input).unwrap();
    assert_eq!((questions.pairs.len(), questions.left_out), (MOST_PAIRS, 31));
}

#[test]
fn goals_are_reached_in_the_order_of_their_graph() {
    let goals: GoalGraph = serde_json::from_value(json!({"id": ["off"], "off": ["tell"], "tell": []})).unwrap();
    let expected = [
        wanted(json!({"name": "off", "tool": "get", "args": {"what": "off"}, "match": {"what": "optional"}})),
        wanted(json!({"name": "id", "tool": "get", "args": {"what": "id"}})),
    ];
    let get = |what: &str| ToolUse::new("get", json!({ "what": what }));
    let run = |options: Value, actual: &[ToolUse], told: Option<Vec<usize>>| {
        let messages = [MessageGoal { name: "tell".to_owned(), reached: told }];
        let input = TrajectoryInput {
            expected: &expected,
            actual,
            goals: Some(&goals),
            messages: &messages,
            ..TrajectoryInput::default()
        };
        TrajectoryMatcher::new(&config(options)).unwrap().compare(input, &LettersOnly).unwrap()
    };
    let watsonx = || json!({"dialect": "watsonx"});
    let whole = run(watsonx(), &[get("id"), get("x"), get("off")], Some(vec![3]));
    assert_eq!((whole.is_match, whole.figures.journey_success), (Some(true), Some(1.0)));
    assert_eq!((whole.figures.journey_completion, whole.figures.recall), (Some(1.0), Some(1.0)));
    // The message came before the call that must lead to it; the original puts messages last, whenever they came.
    let early = run(watsonx(), &[get("id"), get("off")], Some(vec![1]));
    assert_eq!(early.is_match, Some(false));
    assert!(early.explanation.unwrap().contains("off came after tell, which it must lead to"));
    assert_eq!(
        run(json!({"dialect": "watsonx", "strict": true}), &[get("id"), get("off")], Some(vec![1])).is_match,
        Some(true)
    );
    let twice = run(watsonx(), &[get("id"), get("off")], Some(vec![1, 2]));
    assert_eq!(twice.is_match, Some(true));
    let silent = run(watsonx(), &[get("id"), get("off")], Some(vec![]));
    assert_eq!((silent.is_match, silent.figures.journey_completion), (Some(false), Some(2.0 / 3.0)));
    assert!(silent.explanation.unwrap().contains("no message reaches the goal tell"));
    let unknown = run(watsonx(), &[get("id"), get("off")], None);
    assert_eq!(unknown.is_match, None);
    assert_eq!(unknown.missing.unwrap(), "whether a message reaches the goal tell is not known");
    assert_eq!(run(watsonx(), &[get("off")], None).is_match, Some(false));
    let backwards = run(watsonx(), &[get("off"), get("id")], Some(vec![2]));
    assert!(backwards.explanation.unwrap().contains("id came after off, which it must lead to"));
    assert_eq!(
        run(json!({"order": "goals", "count": "equal"}), &[get("id"), get("x"), get("off")], Some(vec![3])).is_match,
        Some(false)
    );
}

#[test]
fn watsonx_reads_types_leniently_and_its_oddities_only_under_strict() {
    for (expected, rules, actual, strict, sound) in [
        (json!({"n": "007"}), json!({}), json!({"n": "7"}), true, false),
        (json!({"n": 10}), json!({}), json!({"n": "10.0"}), true, true),
        (json!({"b": true}), json!({}), json!({"b": "True"}), false, true),
        (json!({"x": null}), json!({}), json!({"x": "None"}), true, false),
        (json!({"a": "X"}), json!({"a": "optional"}), json!({"a": "x"}), false, true),
        (json!({"n": 9_007_199_254_740_993_u64}), json!({}), json!({"n": "9007199254740993"}), false, true),
        (json!({"a": "new york"}), json!({"a": "fuzzy"}), json!({"a": "boston, one way"}), true, false),
        (json!({"a": ["B", 1]}), json!({}), json!({"a": [1, "b"], "more": 1}), true, true),
        (json!({"a": "<IGNORE>"}), json!({}), json!({}), true, true),
        (json!({"IGNORE": null}), json!({}), json!({"a": 1}), true, true),
        (json!(null), json!({}), json!({"a": 1}), false, false),
        (json!({}), json!({}), json!({"a": 1}), true, true),
    ] {
        let shown = format!("{expected} by {rules}: {actual}");
        for (is_strict, same) in [(true, strict), (false, sound)] {
            let options = json!({"dialect": "watsonx", "strict": is_strict});
            assert_eq!(
                args_match(options, expected.clone(), rules.clone(), actual.clone()),
                same,
                "{shown} {is_strict}"
            );
        }
    }
}

#[test]
fn the_word_for_any_value_counts_against_the_f1_of_arguments_as_there() {
    let f1 = |call: Value, actual: Value| {
        let options = json!({"dialect": "watsonx", "strict": true});
        compare(options, json!([call]), json!([{"tool": "get", "args": actual}])).figures.parameter_f1
    };
    let any = json!({"tool": "get", "args": {"c": "<IGNORE>", "a": 1}, "match": {"c": "ignore"}});
    assert_eq!(f1(any, json!({"a": 1, "c": 7})), Some(0.6667));
    assert_eq!(f1(json!({"tool": "get"}), json!({"a": 1})), None, "any arguments will do");
    assert_eq!(f1(json!({"tool": "get", "args": {}}), json!({"a": 1})), Some(0.0));
}

#[test]
fn routing_is_told_from_tools() {
    let agents = json!({"hr": ["leave"], "it": ["reset"]});
    let routing = |strict: bool, expected: Value, actual: Value| {
        compare(json!({"order": "anyOrder", "agents": agents, "strict": strict}), expected, actual).figures
    };
    let leave = || json!([{"tool": "leave"}]);
    let passed = routing(false, leave(), json!([{"tool": "chat_with_collaborator_hr"}, {"tool": "leave"}]));
    assert_eq!((passed.routing_f1, passed.routing, passed.total, passed.precision), (Some(1.0), 1, 1, Some(1.0)));
    let wrong = routing(false, leave(), json!([{"tool": "hr"}, {"tool": "it"}, {"tool": "leave"}]));
    assert_eq!(wrong.routing_f1, Some(2.0 / 3.0));
    assert_eq!(
        routing(true, leave(), json!([{"tool": "hr"}, {"tool": "it"}, {"tool": "leave"}])).routing_f1,
        Some(0.67)
    );
    let labelled = || json!([{"tool": "hr"}]);
    assert_eq!(routing(true, labelled(), json!([])).routing_f1, Some(1.0));
    assert_eq!(routing(false, labelled(), json!([])).routing_f1, Some(0.0));
    assert_eq!(routing(false, leave(), json!([{"tool": "leave"}])).routing_f1, None);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (options, message) in [
        (
            json!({"order": "exact", "count": "subset"}),
            "count: `order: exact` allows no other calls; use `order: inOrder` with `count: subset`",
        ),
        (
            json!({"tools": {"f": {"args": {"a": {"onlyPaths": ["x"], "ignorePaths": ["y"]}}}}}),
            "tools.f.args.a: has onlyPaths and ignorePaths; keep one of them",
        ),
        (json!({"args": {"a": {"number": -1}}}), "args.a: number must be 0 or more"),
        (json!({"args": {"a": {"onlyPaths": {"x": "yes"}}}}), "args.a: onlyPaths: x must be true, false or a mapping"),
        (
            json!({"defaultRules": {"name": {"length": {"min": 3, "max": 2}}}}),
            "defaultRules.name: length: min 3 is above max 2",
        ),
        (json!({"similarity": 80}), "similarity: 80 is not from 0 to 1"),
    ] {
        assert_eq!(TrajectoryMatcher::new(&config(options)).unwrap_err().to_string(), message);
    }
    assert!(
        serde_json::from_value::<TrajectoryConfig>(json!({"args": {"a": "fuzy"}}))
            .unwrap_err()
            .to_string()
            .contains("expected a rule: strict, fuzzy")
    );
    let matcher = TrajectoryMatcher::new(&TrajectoryConfig::default()).unwrap();
    let call = wanted(json!({"tool": "f", "name": "x", "match": {"a": {"number": -1}}}));
    assert_eq!(matcher.check_call(&call).unwrap_err().to_string(), "match.a: number must be 0 or more");
}

fn calls() -> impl Strategy<Value = Vec<(u8, u8)>> {
    proptest::collection::vec((0u8..2, 0u8..3), 0..5)
}

fn holds(order: &str, count: &str, expected: &[(u8, u8)], actual: &[(u8, u8)]) -> bool {
    of_calls(order, count, expected, actual).is_match.unwrap()
}

fn of_calls(order: &str, count: &str, expected: &[(u8, u8)], actual: &[(u8, u8)]) -> Trajectory {
    let call = |(tool, arg): &(u8, u8)| json!({"tool": format!("t{tool}"), "args": {"a": arg}});
    // An argument of 2 stands for any: rules overlap.
    let wanted = |it: &(u8, u8)| {
        let mut call = call(it);
        if it.1 == 2 {
            call["match"] = json!({"a": "ignore"});
        }
        call
    };
    let expected: Vec<Value> = expected.iter().map(wanted).collect();
    let actual: Vec<Value> = actual.iter().map(call).collect();
    compare(json!({"order": order, "count": count}), json!(expected), json!(actual))
}

proptest! {
    #[test]
    fn stricter_orders_hold_only_where_looser_ones_do(expected in calls(), actual in calls()) {
        let exact = holds("exact", "equal", &expected, &actual);
        let in_order = holds("inOrder", "subset", &expected, &actual);
        let any = holds("anyOrder", "subset", &expected, &actual);
        prop_assert_eq!(exact, holds("inOrder", "equal", &expected, &actual));
        prop_assert!(!exact || in_order);
        prop_assert!(!in_order || any);
        prop_assert!(!holds("anyOrder", "equal", &expected, &actual) || any);
        prop_assert_eq!(holds("goals", "subset", &expected, &actual), any);
    }

    #[test]
    fn any_order_means_any(
        (expected, shuffled) in calls().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        (actual, mixed) in calls().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        for count in ["equal", "subset"] {
            prop_assert_eq!(holds("anyOrder", count, &expected, &actual), holds("anyOrder", count, &shuffled, &mixed));
        }
    }

    #[test]
    fn nothing_fails_whatever_the_rules(texts in proptest::collection::vec("[a-z0-9:.{}\" -]{0,8}", 4), kind in 0usize..7, dialect in 0usize..5) {
        let kind = ["strict", "fuzzy", "ignore", "optional", "contains", "regex", "date"][kind];
        let dialect = ["native", "adk", "trpc", "trpcSeed", "watsonx"][dialect];
        for strict in [true, false] {
            let expected = json!([{"tool": "t", "args": {"a": texts[0], "b": {"c": [texts[1]]}}, "match": {"a": kind, "b": kind}}]);
            let actual = json!([{"tool": "t", "args": {"a": texts[2], "b": {"c": [texts[3]]}}}]);
            let trajectory = compare(json!({"dialect": dialect, "strict": strict, "order": "anyOrder"}), expected, actual);
            prop_assert!(trajectory.is_match.is_some());
        }
    }
}

proptest! {
    #[test]
    fn of_calls_in_order_as_many_as_possible_are_found(expected in calls(), actual in calls()) {
        // The longest common subsequence, whatever is the same at both ends.
        let mut longest = vec![vec![0_usize; actual.len() + 1]; expected.len() + 1];
        for (at, one) in expected.iter().enumerate() {
            for (other_at, other) in actual.iter().enumerate() {
                let is_same = holds("exact", "equal", &[*one], &[*other]);
                let both = longest[at][other_at] + usize::from(is_same);
                longest[at + 1][other_at + 1] = both.max(longest[at][other_at + 1]).max(longest[at + 1][other_at]);
            }
        }
        let found = of_calls("inOrder", "subset", &expected, &actual);
        prop_assert_eq!(found.pairs.iter().flatten().count(), longest[expected.len()][actual.len()]);
    }
}
