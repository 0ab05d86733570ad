//! Goals, and what watsonx Orchestrate makes of them.

use serde_json::{Value, json};

use super::*;

#[test]
fn goals_are_reached_in_the_order_of_their_graph() {
    let goals: GoalGraph = serde_json::from_value(json!({"id": ["off"], "off": ["tell"], "tell": []})).unwrap();
    let expected = [
        wanted(json!({"name": "off", "tool": "get", "args": {"what": "off"}, "match": {"what": "optional"}})),
        wanted(json!({"name": "id", "tool": "get", "args": {"what": "id"}})),
    ];
    let get = |what: &str| ToolUse::new("get", json!({ "what": what }));
    let run = |options: Value, actual: &[ToolUse], reached: Option<Vec<usize>>| {
        let messages = [MessageGoal {
            name: "tell".to_owned(),
            reached: reached.ok_or_else(|| UnknownGoal::Unread { name: "tell".to_owned() }),
        }];
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
        (json!({"x": {"y": 1}}), json!({"x.y": "optional"}), json!({}), true, true),
        (json!({"x": {"y": 1}}), json!({"x.y": "ignore"}), json!({"x": null}), true, true),
        (json!({"x": {"y": "<IGNORE>", "z": {"w": 2}}}), json!({"x.z": "ignore"}), json!({}), true, true),
        (json!({"x": {"y": 1, "w": 2}}), json!({"x.y": "optional"}), json!({}), false, false),
        (json!({"x": {"y": 1}}), json!({"x.y": "optional"}), json!({"x": {"y": 2}}), false, false),
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
    let f1_as = |strict: bool, call: Value, actual: Value| {
        let options = json!({"dialect": "watsonx", "strict": strict});
        compare(options, json!([call]), json!([{"tool": "get", "args": actual}])).figures.parameter_f1
    };
    let f1 = |call, actual| f1_as(true, call, actual);
    let any = |rules: Value| json!({"tool": "get", "args": {"c": "<IGNORE>", "a": 1}, "match": rules});
    for (rules, actual, there) in [
        (json!({}), json!({"a": 1, "c": 7}), 0.6667),
        (json!({"c": "optional"}), json!({"a": 1, "c": 7}), 0.6667),
        // The rule is looked at first.
        (json!({"c": "ignore"}), json!({"a": 1, "c": 7}), 1.0),
        (json!({"c": "optional"}), json!({"a": 1}), 1.0),
    ] {
        assert_eq!(f1_as(false, any(rules.clone()), actual.clone()), Some(1.0), "{rules} {actual}");
        assert_eq!(f1(any(rules.clone()), actual.clone()), Some(there), "{rules} {actual}");
    }
    assert_eq!(f1(json!({"tool": "get"}), json!({"a": 1})), None, "any arguments will do");
    assert_eq!(f1(json!({"tool": "get", "args": {}}), json!({"a": 1})), Some(0.0));
}

#[test]
fn routing_differs_from_tools() {
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
