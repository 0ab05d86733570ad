//! The criteria that need no judge: tool calls, and the reply as text, JSON, XML or by ROUGE. Each is checked, and kept as the
//! newest files spell it.

use serde_json::{Map, Value};

use super::{Generation, KEYS, UNKNOWN};
use crate::dataset::cursor::{Cursor, Fields};
use crate::dataset::json::{JsonContent, JsonNode};

type Options = Map<String, Value>;

/// The name of a criterion, and what reads it.
type CriterionReader = (&'static str, fn(Cursor<'_>) -> Options);

/// Reads how calls are compared. The older files' `response` becomes `result`, and the order is always said.
pub(super) fn read_trajectory(value: Cursor<'_>, of_set: Generation) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    let mut generation = None;
    if let Some(strategy) = fields.get("defaultStrategy") {
        options.insert("defaultStrategy".to_owned(), read_strategy(strategy, &mut generation));
    }
    if let Some(strategies) = fields.get("toolStrategy").filter(|strategies| strategies.map().is_some()) {
        let read = |entry: &crate::dataset::json::JsonEntry<'_>| {
            (entry.key.to_string(), read_strategy(strategies.at(&entry.value), &mut generation))
        };
        let by_tool = strategies.node.entries().iter().map(read).collect();
        options.insert("toolStrategy".to_owned(), Value::Object(by_tool));
    }
    let insensitive = fields.flag("orderInsensitive");
    let sensitive = fields.flag("orderSensitive");
    if let Some(subset) = fields.flag("subsetMatching") {
        options.insert("subsetMatching".to_owned(), subset.into());
        generation = generation.or(Some(Generation::Head));
    }
    let by_order = match (insensitive, sensitive) {
        (Some(_), None) => Some(Generation::Seed),
        (None, Some(_)) => Some(Generation::Head),
        _ => None,
    };
    let generation = generation.or(by_order).unwrap_or(of_set);
    let is_sensitive = sensitive.or(insensitive.map(|insensitive| !insensitive));
    options.insert("orderSensitive".to_owned(), is_sensitive.unwrap_or(generation == Generation::Seed).into());
    options.insert("generation".to_owned(), generation.as_str().into());
    compare_name(&mut fields, &mut options);
    options.extend(fields.rest(UNKNOWN));
    options
}

/// A function that the Go program registered decides.
fn compare_name(fields: &mut Fields<'_>, options: &mut Options) {
    let Some(name) = fields.get("compareName") else { return };
    let Some(text) = name.text().filter(|text| !text.is_empty()) else { return };
    name.warn(format!("`{text}` is a Go function: eval-job cannot compare with it"));
    options.insert("compareName".to_owned(), text.into());
}

fn read_strategy(value: Cursor<'_>, generation: &mut Option<Generation>) -> Value {
    let Some(mut fields) = value.fields(KEYS) else { return Value::Null };
    let mut options = Options::new();
    if let Some(name) = fields.get("name") {
        options.insert("name".to_owned(), Value::Object(read_text(name)));
    }
    if let Some(arguments) = fields.get("arguments") {
        options.insert("arguments".to_owned(), Value::Object(read_json(arguments)));
    }
    for (key, of) in [("response", Generation::Seed), ("result", Generation::Head)] {
        let Some(result) = fields.get(key) else { continue };
        *generation = generation.or(Some(of));
        options.insert("result".to_owned(), Value::Object(read_json(result)));
    }
    if options.is_empty() {
        value.warn("this strategy compares nothing: any call fits");
    }
    options.extend(fields.rest(UNKNOWN));
    Value::Object(options)
}

/// Reads by what a reply is compared; all that is here must hold.
pub(super) fn read_final_response(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    let parts: [CriterionReader; 4] =
        [("text", read_text), ("json", read_json), ("rouge", read_rouge), ("xml", read_xml)];
    for (name, read) in parts {
        if let Some(part) = fields.get(name) {
            options.insert(name.to_owned(), Value::Object(read(part)));
        }
    }
    compare_name(&mut fields, &mut options);
    if options.is_empty() {
        value.error("it needs at least one of `text`, `json`, `rouge` and `xml`");
    }
    options.extend(fields.rest(UNKNOWN));
    options
}

fn one_of(fields: &mut Fields<'_>, name: &'static str, known: &[&str], options: &mut Options) {
    let Some(value) = fields.get(name) else { return };
    let Some(text) = value.text().filter(|text| !text.is_empty()) else { return };
    if !known.contains(&text) {
        value.error_with(format!("`{text}` is none of them"), format!("one of {}", known.join(", ")));
    }
    options.insert(name.to_owned(), text.into());
}

fn flags(fields: &mut Fields<'_>, names: &[&'static str], options: &mut Options) {
    for name in names {
        if let Some(truth) = fields.flag(name) {
            options.insert((*name).to_owned(), truth.into());
        }
    }
}

fn read_text(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    flags(&mut fields, &["ignore", "caseInsensitive"], &mut options);
    one_of(&mut fields, "matchStrategy", &["exact", "contains", "regex", "skip"], &mut options);
    if let Some(length) = fields.get("length") {
        options.insert("length".to_owned(), Value::Object(read_length(length)));
    }
    compare_name(&mut fields, &mut options);
    options.extend(fields.rest(UNKNOWN));
    options
}

fn read_length(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    flags(&mut fields, &["ignore"], &mut options);
    let bounds = ["min", "max"].map(|name| {
        let bound = fields.get(name).and_then(Cursor::count);
        options.extend(bound.map(|bound| (name.to_owned(), bound.into())));
        bound
    });
    match bounds {
        _ if is_ignored(&options) => {}
        [None, None] => value.error("a length needs `min`, `max` or both"),
        [Some(min), Some(max)] if min > max => value.error("`min` is greater than `max`"),
        _ => {}
    }
    options.extend(fields.rest(UNKNOWN));
    options
}

fn read_json(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    flags(&mut fields, &["ignore", "valid"], &mut options);
    one_of(&mut fields, "matchStrategy", &["exact", "skip"], &mut options);
    for name in ["ignoreTree", "onlyTree"] {
        let Some(tree) = fields.get(name) else { continue };
        check_tree(tree, tree.node);
        if name == "onlyTree" && !tree.node.entries().is_empty() && !has_true(tree.node) {
            tree.warn("no key of this tree is true: nothing is compared, and anything fits");
        }
        options.insert(name.to_owned(), tree.json());
    }
    // Go looks at `ignore` before all else, and takes an empty tree for none.
    let has_tree = |name: &str| options.get(name).and_then(Value::as_object).is_some_and(|tree| !tree.is_empty());
    if !is_ignored(&options) && has_tree("ignoreTree") && has_tree("onlyTree") {
        value.error("`ignoreTree` and `onlyTree` exclude each other");
    }
    if let Some(tolerance) = fields.get("numberTolerance") {
        if tolerance.number().is_some_and(|number| number < 0.0) {
            tolerance.error("a tolerance must not be negative");
        }
        options.insert("numberTolerance".to_owned(), tolerance.json());
    }
    if let Some(schema) = fields.get("schema") {
        options.insert("schema".to_owned(), schema.json());
    }
    compare_name(&mut fields, &mut options);
    options.extend(fields.rest(UNKNOWN));
    options
}

fn is_ignored(options: &Options) -> bool {
    options.get("ignore") == Some(&Value::Bool(true))
}

/// Whether a tree of keys ends in true somewhere.
fn has_true(node: &JsonNode) -> bool {
    match &node.content {
        JsonContent::Object(entries) => entries.iter().any(|entry| has_true(&entry.value)),
        content => *content == JsonContent::Bool(true),
    }
}

/// A tree of keys ends in true or false.
fn check_tree(value: Cursor<'_>, node: &JsonNode) {
    match &node.content {
        JsonContent::Object(entries) => entries.iter().for_each(|entry| check_tree(value, &entry.value)),
        JsonContent::Bool(_) => {}
        _ => value.error("a tree of keys has objects, and true or false at its ends"),
    }
}

/// A threshold of ROUGE, as an example.
const THRESHOLD_OF_ROUGE: &str = "`\"threshold\": {\"f1\": 0.8}`";

fn read_rouge(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    flags(&mut fields, &["ignore", "useStemmer", "splitSummaries"], &mut options);
    let is_ignored = is_ignored(&options);
    if let Some(kind) = if is_ignored { fields.get("rougeType") } else { fields.required("rougeType") } {
        let text = kind.text().unwrap_or_default();
        let is_counted = text.strip_prefix("rouge").and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n > 0);
        if !is_counted && !["rougeL", "rougeLsum"].contains(&text) {
            kind.error_with("there is no such ROUGE", "rouge1, rouge2 and so on, rougeL or rougeLsum");
        }
        options.insert("rougeType".to_owned(), text.into());
    }
    one_of(&mut fields, "measure", &["f1", "precision", "recall"], &mut options);
    if let Some(threshold) = fields.get("threshold") {
        let mut bounds = Options::new();
        if let Some(mut fields) = threshold.fields(KEYS) {
            let known = ["precision", "recall", "f1"];
            let numbers = known.map(|name| {
                fields.number(name).inspect(|number| drop(bounds.insert(name.to_owned(), (*number).into())))
            });
            match numbers {
                _ if is_ignored => {}
                [None, None, None] => threshold
                    .error_with("it names no figure: every reply would pass this comparison", THRESHOLD_OF_ROUGE),
                numbers if numbers.iter().flatten().all(|number| *number <= 0.0) => {
                    threshold.warn("every reply reaches 0: this comparison decides nothing");
                }
                _ => {}
            }
            bounds.extend(fields.rest(UNKNOWN));
        }
        options.insert("threshold".to_owned(), Value::Object(bounds));
    } else if !is_ignored {
        value.error_with(
            "`threshold` is missing: without one every reply would pass this comparison",
            THRESHOLD_OF_ROUGE,
        );
    }
    options.extend(fields.text("tokenizerName").map(|name| ("tokenizerName".to_owned(), name.into())));
    options.extend(fields.rest(UNKNOWN));
    options
}

fn read_xml(value: Cursor<'_>) -> Options {
    let Some(mut fields) = value.fields(KEYS) else { return Options::new() };
    let mut options = Options::new();
    flags(&mut fields, &["ignore", "valid"], &mut options);
    one_of(&mut fields, "matchStrategy", &["skip"], &mut options);
    if !options.contains_key("matchStrategy") && !is_ignored(&options) {
        value.error_with("XML is only checked for being well-formed", "`\"matchStrategy\": \"skip\"` says so");
    }
    options.extend(fields.rest(UNKNOWN));
    options
}
