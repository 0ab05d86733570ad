//! Properties that hold for any calls and rules.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

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
    fn an_unexpected_argument_is_told_whatever_expected_ones_are_absent(
        expected in proptest::collection::btree_map("[a-e]", (0usize..3, any::<bool>()), 0..5),
        extra in proptest::collection::btree_set("[v-z]", 0..4),
        comes_first in any::<bool>(),
        strict in any::<bool>(),
    ) {
        let kinds = ["strict", "optional", "ignore"];
        let args: serde_json::Map<String, Value> = expected.keys().map(|key| (key.clone(), json!("x"))).collect();
        let rules: serde_json::Map<String, Value> =
            expected.iter().map(|(key, (kind, _))| (key.clone(), json!(kinds[*kind]))).collect();
        // What must be there is; of the others, any may be absent.
        let present = expected.iter().filter(|(_, (kind, is_there))| *kind == 0 || *is_there);
        let present = present.map(|(key, _)| (key.clone(), json!("x")));
        let beyond = extra.iter().map(|key| (key.clone(), json!(true)));
        let actual: serde_json::Map<String, Value> = match comes_first {
            true => beyond.chain(present).collect(),
            false => present.chain(beyond).collect(),
        };
        let expected = wanted(json!({"tool": "t", "args": args, "match": rules}));
        let made = ToolUse::new("t", Value::Object(actual));
        for dialect in ["native", "adk", "trpc"] {
            let matcher = TrajectoryMatcher::new(&config(json!({"dialect": dialect, "strict": strict}))).unwrap();
            let input = TrajectoryInput {
                expected: std::slice::from_ref(&expected),
                actual: std::slice::from_ref(&made),
                ..TrajectoryInput::default()
            };
            prop_assert_eq!(matcher.compare(input, &LettersOnly).unwrap().is_match, Some(extra.is_empty()), "{}", dialect);
            let found = matcher.differences(&expected, &made).unwrap();
            let reported: std::collections::BTreeSet<String> = found.iter().map(|it| it.path.clone()).collect();
            let all: std::collections::BTreeSet<String> = extra.iter().map(|key| format!("args.{key}")).collect();
            prop_assert_eq!(reported, all, "{}", dialect);
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
            // The expectation may be no valid pattern or date.
            prop_assert!(trajectory.is_match.is_some() || (!strict && ["regex", "date"].contains(&kind)));
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
