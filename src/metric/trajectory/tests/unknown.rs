//! Unknown results are neither equal nor different: undecided texts, lost digits, invalid patterns.

use serde_json::{Value, json};

use super::*;

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
        let shown = trajectory.explanation.clone().unwrap_or_default() + trajectory.decisions.join("\n").as_str();
        assert!(shown.contains(who), "{shown}");
        assert_eq!(trajectory.missing.is_some(), is_match.is_none());
    }
    // An unknown result does not matter where it can not change the score.
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
        ("1e30", "1e30", true),
        ("1e30", "1000000000000000000000000000000", true),
        ("-6.022e23", "-6.0220e+23", true),
        ("1e30", "1.0000000000001e30", false),
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
fn a_number_beyond_64_bits_that_is_looked_at_as_text_is_not_known_to_differ() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let run = |rule: Value, expected: Value, actual: Value| {
        let expected = json!([{"tool": "f", "args": {"a": expected}, "match": {"a": rule}}]);
        compare(json!({}), expected, json!([{"tool": "f", "args": {"a": actual}}])).is_match
    };
    let (long, digits) = (number("123456789012345678901234567890"), json!("123456789012345678901234567890"));
    for (rule, expected, actual, is_match) in [
        (json!("contains"), long.clone(), json!("order 123456789012345678901234567890"), None),
        (json!("contains"), digits.clone(), long.clone(), None),
        (json!("contains"), json!("12"), json!("order 12"), Some(true)),
        (json!("contains"), long.clone(), json!([1, long]), None),
        (json!("contains"), json!({"n": long}), json!({"n": long, "m": 1}), None),
        (json!("regex"), json!("^\\d+$"), long.clone(), None),
        (json!("regex"), json!("^\\d+$"), json!(12), Some(true)),
        (json!("fuzzy"), long.clone(), long.clone(), None),
        (json!("fuzzy"), number("1e30"), number("1e30"), Some(true)),
        (json!("fuzzy"), digits.clone(), digits.clone(), Some(true)),
        (json!("fuzzy"), digits, json!("123456789012345678901234567891"), Some(false)),
        (json!("optional"), long.clone(), long.clone(), None),
        (json!({"number": 1}), long.clone(), long.clone(), Some(true)),
    ] {
        assert_eq!(run(rule.clone(), expected.clone(), actual.clone()), is_match, "{rule}: {expected} {actual}");
    }
}

#[test]
fn adks_partial_credit_does_not_count_what_may_differ_in_a_digit_it_does_not_know() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let run = |strict: bool, text: &str| {
        let call = json!([{"tool": "f", "args": {"a": number(text), "b": 1}}]);
        compare(json!({"dialect": "adk", "strict": strict, "score": "parameterMatch"}), call.clone(), call)
    };
    for strict in [true, false] {
        let unknown = run(strict, "123456789012345678901234567890");
        assert!(unknown.doubt.unwrap().contains("beyond 64 bits"), "strict: {strict}");
        let known = run(strict, "1e30");
        assert_eq!((known.doubt, known.figures.parameter_match), (None, Some(1.0)), "strict: {strict}");
    }
}

#[test]
fn an_invalid_pattern_or_date_gives_no_score() {
    for (rule, expected) in [("regex", "(x"), ("date", "soon")] {
        let call = json!([{"tool": "f", "args": {"a": expected}, "match": {"a": rule}}]);
        let made = json!([{"tool": "f", "args": {"a": expected}}]);
        let trajectory = compare(json!({}), call.clone(), made.clone());
        assert_eq!(trajectory.is_match, None, "{rule}");
        assert!(trajectory.missing.unwrap().starts_with("a: the expected text \""), "{rule}");
        assert_eq!(compare(json!({"strict": true}), call, made).is_match, Some(false), "{rule}");
    }
}

#[test]
fn what_nothing_can_be_compared_with_is_found_before_a_conversation() {
    let matcher = TrajectoryMatcher::new(&config(json!({
        "tools": {"*(": {"name": "regex"}, "g": {"arguments": {"ignorePaths": ["t"]}, "result": "regex"}},
        "args": {"day": "date"}, "strict": true, "dialect": "trpc",
    })))
    .unwrap();
    let places = |call: Value| -> Vec<String> {
        matcher.unusable(&wanted(call)).into_iter().map(|(place, it)| format!("{place}: {}", it.why)).collect()
    };
    assert_eq!(places(json!({"tool": "f", "args": {"day": "2026-03-28", "n": 1e30}})), [""; 0]);
    assert_eq!(
        places(json!({"tool": "g", "args": {"day": "soon"}, "result": "[a"})),
        [
            "args.day: the expected text \"soon\" is no date",
            "result: the expected text \"[a\" is no regular expression: unclosed character class",
        ]
    );
    assert_eq!(
        places(json!({"tool": "*(", "args": {"day": {"from": "soon"}}})),
        [
            "args.day.from: the expected text \"soon\" is no date",
            "tool: the expected text \"*(\" is no regular expression: repetition operator missing expression",
        ]
    );
}
