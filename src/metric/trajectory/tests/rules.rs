//! Rules one by one, and contradictory rules.

use serde_json::json;

use super::*;

#[test]
fn each_rule_does_what_it_says() {
    for (expected, rules, actual, same) in [
        (json!({"a": 1}), json!({}), json!({"a": 1.0}), true),
        (json!({"a": 1}), json!({}), json!({"a": 1, "b": 2}), false),
        (json!({"a": 1}), json!({"b": "optional"}), json!({"a": 1, "b": 2}), true),
        (json!({"a": "x"}), json!({"a": "ignore"}), json!({}), true),
        // What nobody expects does not take the place of what may be absent.
        (json!({"q": "a", "note": "x"}), json!({"note": "optional"}), json!({"q": "a", "delete": true}), false),
        (json!({"q": "a", "note": "x"}), json!({"note": "ignore"}), json!({"q": "a", "delete": true}), false),
        (json!({"a": {"x": 1}}), json!({"a": {"ignorePaths": ["x"]}}), json!({"a": {"y": 1}}), false),
        (json!({"a": {"city": "Paris"}}), json!({"a": "fuzzy"}), json!({"a": "Paris"}), false),
        (json!({"a": "Paris"}), json!({"a": "fuzzy"}), json!({"a": ["Paris"]}), false),
        (json!({"a": {"city": "Paris"}}), json!({"a": "fuzzy"}), json!({"a": ["city", "Paris"]}), false),
        (json!({"a": ["city", "Paris"]}), json!({"a": "fuzzy"}), json!({"a": {"city": "Paris"}}), false),
        (json!({"a": {}}), json!({"a": "fuzzy"}), json!({"a": []}), false),
        (
            json!({"a": "istanbul"}),
            json!({"a": {"rule": "contains", "caseInsensitive": true}}),
            json!({"a": "Fly to İSTANBUL"}),
            true,
        ),
        (
            json!({"a": "^İstan"}),
            json!({"a": {"rule": "regex", "caseInsensitive": true}}),
            json!({"a": "istanbul"}),
            true,
        ),
        (
            json!({"a": "İstanbul"}),
            json!({"a": {"rule": "strict", "caseInsensitive": true}}),
            json!({"a": "i\u{307}stanbul"}),
            true,
        ),
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
        (json!({"a": "{\"id\": \\d{2}}"}), json!({"a": "regex"}), json!({"a": "{\"id\": 12}"}), true),
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

#[test]
fn a_condition_on_arguments_holds_of_none_too() {
    let with = |arguments: Value| {
        let options = json!({"dialect": "trpc", "defaultRules": {"arguments": arguments}});
        compare(options, json!([{"tool": "t"}]), json!([{"tool": "t"}])).is_match
    };
    assert_eq!(with(json!({"schema": {"type": "object", "required": ["a"]}})), Some(false));
    assert_eq!(with(json!({"rule": "strict", "schema": {"type": "object", "required": ["a"]}})), Some(false));
    assert_eq!(with(json!({"schema": {"type": "object"}})), Some(true));
    assert_eq!(with(json!("strict")), Some(true));
}
