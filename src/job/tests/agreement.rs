//! The schema and the loader are one truth.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::job::problem::Report;
use crate::job::source::{self, SourceLines};

/// An independent reading of the part of JSON Schema that the job's schema uses. An unknown keyword is a failure of the
/// test: whoever adds one teaches it here and in `check`.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(rules) = schema.as_object() else { return schema != false };
    let all = |list: &Value, holds: &dyn Fn(&Value) -> bool| list.as_array().unwrap().iter().all(holds);
    let count = |list: &Value| list.as_array().unwrap().iter().filter(|rule| valid(root, rule, value)).count();
    let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
    let number = value.as_f64();
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "writeOnly" => true,
        "$ref" => valid(root, &root["$defs"][rule.as_str().unwrap().trim_start_matches("#/$defs/")], value),
        "type" if rule.is_array() => {
            all(&json!([rule]), &|_| rule.as_array().unwrap().iter().any(|one| is(one, value)))
        }
        "type" => is(rule, value),
        "const" => rule == value,
        "if" => !valid(root, rule, value) || valid(root, &schema["then"], value),
        "then" => true,
        "enum" => rule.as_array().unwrap().contains(value),
        "oneOf" => count(rule) == 1,
        "anyOf" => count(rule) > 0,
        "allOf" => all(rule, &|rule| valid(root, rule, value)),
        "not" => !valid(root, rule, value),
        "properties" => rule
            .as_object()
            .unwrap()
            .iter()
            .all(|(key, rule)| value.get(key).is_none_or(|part| valid(root, rule, part))),
        "additionalProperties" => {
            let known = schema["properties"].as_object();
            let is_known = |key: &String| known.is_some_and(|known| known.contains_key(key));
            let others = || value.as_object().into_iter().flatten().filter(|(key, _)| !is_known(key));
            if rule.is_object() {
                return others().all(|(_, part)| valid(root, rule, part));
            }
            rule != false
                || value
                    .as_object()
                    .is_none_or(|map| map.keys().all(|key| known.is_some_and(|known| known.contains_key(key))))
        }
        "required" => !value.is_object() || all(rule, &has),
        "dependentRequired" => {
            rule.as_object().unwrap().iter().all(|(key, needed)| value.get(key).is_none() || all(needed, &has))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(root, rule, item))),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
        "pattern" if rule == r"\S" => value.as_str().is_none_or(|text| !text.trim().is_empty()),
        "pattern" => {
            value.as_str().is_none_or(|text| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(text))
        }
        "minimum" => number.is_none_or(|number| number >= rule.as_f64().unwrap()),
        "exclusiveMinimum" => number.is_none_or(|number| number > rule.as_f64().unwrap()),
        "maximum" => number.is_none_or(|number| number <= rule.as_f64().unwrap()),
        other => panic!("the loader does not check the keyword {other}"),
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other}"),
    }
}

/// The problems that the structural check finds by this schema; JSON is YAML.
fn found(schema: &Value, job: &Value) -> String {
    let text = job.to_string();
    let lines = SourceLines::new(&text);
    let mut report = Report::new("job.yml", &lines);
    let root = source::parse(&mut report).expect("JSON is YAML");
    check::check(&mut report, schema, &root);
    report.finish().map_or_else(|problems| render_problems(&problems), |()| String::new())
}

/// The schema without the rules that only concern values and the keys of kinds: what is left is what `serde` knows.
fn shape(schema: &Value) -> Value {
    const BEYOND: [&str; 11] = [
        "if",
        "then",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "pattern",
        "minItems",
        "maxItems",
        "allOf",
        "dependentRequired",
        "not",
    ];
    match schema {
        Value::Object(rules) => {
            let is_kinds = |rule: &Value| rule[0].get("required").is_some();
            let kept = rules
                .iter()
                .filter(|(key, rule)| !(BEYOND.contains(&key.as_str()) || *key == "oneOf" && is_kinds(rule)));
            Value::Object(kept.map(|(key, rule)| (key.clone(), shape(rule))).collect())
        }
        Value::Array(list) => list.iter().map(shape).collect(),
        other => other.clone(),
    }
}

fn as_json(yaml: &str) -> Value {
    let lines = SourceLines::new(yaml);
    source::as_json(&source::parse(&mut Report::new("job.yml", &lines)).expect("an example is YAML"))
}

static EXAMPLES: LazyLock<[Value; 8]> =
    LazyLock::new(|| [EMBABEL, FULL, LEAST, MANAGED, OPENAI, HTTP, COMMAND, CASES].map(as_json));
static SHAPE: LazyLock<Value> = LazyLock::new(|| shape(schema::shared()));

#[test]
fn every_example_is_valid_under_both() {
    for job in &*EXAMPLES {
        assert!(valid(schema::shared(), schema::shared(), job), "{job}");
        assert_eq!(found(schema::shared(), job), "", "{job}");
    }
}

#[test]
fn every_default_of_the_schema_is_valid_under_its_own_rules() {
    fn defaults(root: &Value, schema: &Value) {
        if let Some(default) = schema.get("default") {
            assert!(valid(root, schema, default), "{schema}");
        }
        match schema {
            Value::Object(rules) => rules.values().for_each(|rule| defaults(root, rule)),
            Value::Array(list) => list.iter().for_each(|rule| defaults(root, rule)),
            _ => {}
        }
    }
    defaults(&schema(), &schema());
}

#[test]
fn every_key_has_a_description() {
    fn undescribed(schema: &Value, path: &str, out: &mut Vec<String>) {
        for (name, part) in schema.as_object().into_iter().flatten() {
            if name == "properties" {
                let nameless = part.as_object().unwrap().iter().filter(|(_, rule)| rule["description"].is_null());
                out.extend(nameless.map(|(key, _)| format!("{path}.{key}")));
            }
            undescribed(part, &format!("{path}.{name}"), out);
        }
    }
    let mut out = Vec::new();
    undescribed(&schema(), "", &mut out);
    assert_eq!(out, Vec::<String>::new());
}

/// Values of every type. A whole number with a point is left out: JSON Schema calls it an integer, the loader does not.
static VALUES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    as_list(json!([null, true, 7, 0.5, "x", "task", "withFacts", [], {}, [1], ["x"], [{}], {"a": 1}]))
});
/// The same, and values at and beyond the bounds.
static EXTREMES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let extremes = as_list(json!([-1, 0, 1, 2, 3, 2.5, -0.5, 5_000_000_000_u64, "", " \n", [" "]]));
    [VALUES.clone(), extremes].concat()
});

fn as_list(list: Value) -> Vec<Value> {
    serde_json::from_value(list).unwrap()
}

/// Keys that are known somewhere, and one that is not.
const KEYS: [&str; 32] = [
    "cases",
    "id",
    "conditions",
    "cypher",
    "expected",
    "expression",
    "text",
    "conversation",
    "model",
    "script",
    "demo",
    "openai",
    "http",
    "command",
    "embabel",
    "embedded",
    "neo4j",
    "watch",
    "changes",
    "created",
    "node",
    "relationship",
    "from",
    "where",
    "count",
    "name",
    "weight",
    "nonsense",
    "start",
    "port",
    "log",
    "isolation",
];

/// Changes one thing somewhere in the job: `at` picks the place, `how` the change, `what` the value or key.
fn mutate(job: &mut Value, at: usize, how: usize, what: usize, values: &[Value]) {
    let mut places = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        match job.pointer(&place).unwrap() {
            Value::Object(map) => places.extend(map.keys().map(|key| format!("{place}/{key}"))),
            Value::Array(list) => places.extend((0..list.len()).map(|index| format!("{place}/{index}"))),
            _ => {}
        }
        next += 1;
    }
    let place = job.pointer_mut(&places[at % places.len()]).unwrap();
    let value = values[what % values.len()].clone();
    match (how % 5, place) {
        (0, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(what % map.len()).unwrap().clone();
            map.remove(&key);
        }
        (1, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(what % map.len()).unwrap().clone();
            let value = map.remove(&key).unwrap();
            map.insert(format!("{key}s"), value);
        }
        (2, Value::Object(map)) => {
            map.insert(KEYS[what % KEYS.len()].to_owned(), values[at % values.len()].clone());
        }
        (3, Value::Array(list)) => list.push(value),
        (_, place) => *place = value,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn schema_and_check_agree(example in 0..8_usize, changes in prop::collection::vec(any::<(usize, usize, usize)>(), 1..4)) {
        let mut job = EXAMPLES[example].clone();
        for (at, how, what) in changes {
            mutate(&mut job, at, how, what, &EXTREMES);
        }
        let found = found(schema::shared(), &job);
        prop_assert_eq!(found.is_empty(), valid(schema::shared(), schema::shared(), &job), "{}\n{}", found, job);
    }

    #[test]
    fn what_has_no_problems_has_a_meaning(example in 0..8_usize, changes in prop::collection::vec(any::<(usize, usize, usize)>(), 1..4)) {
        let mut job = EXAMPLES[example].clone();
        for (at, how, what) in changes {
            mutate(&mut job, at, how, what, &EXTREMES);
        }
        let text = job.to_string();
        let problems = load("job.yml", &text, &AllTemplates).err();
        let gap = problems.iter().flat_map(|problems| &problems.list).find(|problem| problem.message.starts_with("eval-job"));
        prop_assert_eq!(gap, None, "{}", text);
    }

    #[test]
    fn serde_reads_nothing_that_the_shape_does_not_allow(
        example in 0..8_usize,
        changes in prop::collection::vec(any::<(usize, usize, usize)>(), 1..4),
    ) {
        let mut job = EXAMPLES[example].clone();
        for (at, how, what) in changes {
            mutate(&mut job, at, how, what, &VALUES);
        }
        let found = found(&SHAPE, &job);
        // A derived struct also reads a list of its fields; the loader never gets that far.
        prop_assume!(!found.contains("mapping, found a list"));
        let read = serde_json::from_value::<Job>(job.clone());
        prop_assert!(found.is_empty() || read.is_err(), "{}\n{}", found, job);
    }

    #[test]
    fn no_text_is_too_much(text in "([a-z:\\-\\[\\]{}\"'&*!|>#? \t\n\r]|facts|tasks|\\PC){0,60}") {
        prop_assert!(!rendered(&text).is_empty());
    }

    #[test]
    fn no_damage_to_a_file_is_too_much(cut in 0..2_000_usize, damage in "\\PC{0,3}", keep in any::<bool>()) {
        let at = (0..=cut.min(FULL.len())).rev().find(|&at| FULL.is_char_boundary(at)).unwrap_or(0);
        let rest = if keep { &FULL[at..] } else { "" };
        let text = format!("{}{damage}{rest}", &FULL[..at]);
        prop_assert!(!rendered(&text).is_empty());
    }
}
