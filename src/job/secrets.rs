//! Finds the secrets of a job file and their places.
//!
//! The schema says which values are (`writeOnly`); besides, whatever has the name of a key, whatever stands under a key that
//! the schema does not know, and the logins and keys in addresses.

mod expected;
mod texts;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::SeparateExpectations;
use super::nearest::nearest;
use super::schema;
use super::source::{SourceSpan, YamlContent, YamlNode, read_leniently};
use crate::secret::{
    Secret, is_key_name, is_misplaced_in_key, is_secret_header, is_surely_a_key, is_worth_hiding, looks_like_a_key,
};
use expected::ExpectationLook;
use texts::{is_named_secret, learn_arguments, learn_parts, learn_tokens, literal_parts};

/// The keys of a job file with secret values.
const SECRET_KEYS: [&str; 5] = ["apiKey", "password", "headers", "env", "args"];

/// The longest list or mapping that is hidden as a whole, in bytes.
const LONGEST: usize = 10_000;

/// More secrets than a job can have: no time is spent on a file that claims so.
pub(super) const MOST: usize = 2_000;

/// The keys and passwords of a job file: what the redactor has to know before anything of the file is used or shown. None
/// where the text can't be read as YAML.
pub fn secrets(text: &str) -> Vec<Secret> {
    secrets_of(&read_leniently(text))
}

/// The secrets of a job in JSON.
pub fn secrets_of_document(document: &Value) -> Vec<Secret> {
    secrets_of(&[YamlNode::from(document)])
}

/// The secrets of a job in JSON whose cases' expectations stand beside it. Cases in which there can be none are not looked at any
/// closer.
pub fn secrets_of_part(document: &Value, expected: &[SeparateExpectations]) -> Vec<Secret> {
    let mut look = ExpectationLook::default();
    let cases = document.get("cases").and_then(Value::as_array).into_iter().flatten().zip(expected);
    let suspicious: Vec<Value> = cases
        .filter(|(case, expected)| look.may_be_in_case(case) || expected.all().any(|it| look.may_be_expected(it)))
        .map(|(case, expected)| {
            let mut case = case.clone();
            expected.write_into(&mut case);
            case
        })
        .collect();
    let rest = document.as_object().into_iter().flatten().filter(|(key, _)| *key != "cases");
    let mut document: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    document.insert("cases".to_owned(), suspicious.into());
    secrets_of_document(&Value::Object(document))
}

pub(super) fn secrets_of(roots: &[YamlNode]) -> Vec<Secret> {
    let mut found = FoundSecrets::default();
    roots.iter().for_each(|root| found.add(root));
    let guessed = std::mem::take(&mut found.guessed);
    if !guessed.is_empty() {
        let mut prompts = Vec::new();
        roots.iter().for_each(|root| collect_prompts(root, false, &mut prompts));
        // Texts for the persona and the judge, and names of models, are no secrets by their looks.
        let is_in_prompt = |guess: &String| prompts.iter().any(|prompt| prompt.contains(guess.as_str()));
        found.texts.extend(guessed.into_iter().filter(|guess| !is_in_prompt(guess)));
    }
    // A user's name is no secret, in any header.
    let target = roots.last().and_then(|root| root.get("target"));
    let names = ["user", "chatbot"].map(|name| target?.get(name)?.text());
    found.texts.retain(|text| !names.iter().flatten().any(|name| name == text));
    found.texts.sort_unstable();
    found.texts.dedup();
    found.texts.into_iter().take(MOST).map(Secret::new).collect()
}

/// The secrets of a tree.
#[derive(Default)]
pub(super) struct FoundSecrets {
    /// Where it is written: no part of that is shown.
    pub(super) spans: Vec<SourceSpan>,
    /// The texts that are secret wherever they stand.
    pub(super) texts: Vec<String>,
    /// Texts that look like secrets.
    pub(super) guessed: Vec<String>,
}

impl FoundSecrets {
    /// The secrets of a tree.
    pub(super) fn from_tree(root: &YamlNode) -> FoundSecrets {
        let mut found = FoundSecrets::default();
        found.add(root);
        found
    }

    /// Adds what is secret in a tree.
    pub(super) fn add(&mut self, root: &YamlNode) {
        walk(self, schema::shared(), root, &SecretContext::default());
    }

    /// Hides everything under a node.
    fn hide(&mut self, node: &YamlNode) {
        let mut spans = vec![node.span];
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            open.extend(node.items().iter().chain(node.entries().iter().map(|entry| &entry.value)));
            spans.extend(node.items().iter().map(|item| item.span));
            spans.extend(node.entries().iter().flat_map(|entry| [entry.key.span, entry.value.span]));
        }
        // What stands between two parts of it belongs to it; what an alias brings stands elsewhere.
        let first = spans.iter().map(|span| span.start).filter(|start| *start >= node.span.start).min();
        let last = spans.iter().map(|span| span.end).filter(|end| *end >= node.span.end).max();
        if let (Some(start), Some(end), false) = (first, last, node.items().is_empty() && node.entries().is_empty()) {
            let aliased = spans.iter().any(|span| span.start < node.span.start);
            if !aliased && end - start < LONGEST {
                spans.push(SourceSpan { start, end, ..node.span });
            }
        }
        self.spans.extend(spans);
    }

    /// Hides the value of an unknown key where the key is near to a secret's (`near`), or the value looks like a secret.
    fn hide_unknown(&mut self, key: &str, near: Option<&str>, node: &YamlNode) {
        let is_secret_key = is_key_name(key) || near.is_some_and(|near| SECRET_KEYS.contains(&near));
        if is_secret_key {
            self.hide(node);
            return;
        }
        match &node.content {
            YamlContent::String(text) if looks_like_a_key(text) => self.hide(node),
            YamlContent::List(items) => items.iter().for_each(|item| self.hide_unknown("", None, item)),
            YamlContent::Mapping(entries) => {
                entries.iter().for_each(|entry| self.hide_unknown(&entry.key.text, None, &entry.value))
            }
            _ => {}
        }
    }

    /// Learns every text under a node.
    fn learn(&mut self, node: &YamlNode) {
        match &node.content {
            YamlContent::String(text) => self.texts.extend(literal_parts(text)),
            YamlContent::Int(number) => self.texts.push(number.to_string()),
            YamlContent::Float(_) | YamlContent::Null | YamlContent::Bool(_) => {}
            YamlContent::List(items) => items.iter().for_each(|item| self.learn(item)),
            YamlContent::Mapping(entries) => entries.iter().for_each(|entry| self.learn(&entry.value)),
        }
    }
}

/// The texts of tasks and facts, and the names of models.
fn collect_prompts(node: &YamlNode, is_prompt: bool, prompts: &mut Vec<String>) {
    match &node.content {
        YamlContent::String(text) if is_prompt => prompts.push(text.clone()),
        YamlContent::List(items) => items.iter().for_each(|item| collect_prompts(item, is_prompt, prompts)),
        YamlContent::Mapping(entries) => {
            for entry in entries {
                let key = entry.key.text.as_str();
                // A model's own settings hold its key.
                let is_name = key == "name" && matches!(&entry.value.content, YamlContent::String(_));
                let is_prompt = match key {
                    "tasks" | "facts" | "model" | "models" | "script" => true,
                    _ => is_prompt && (is_name || matches!(key, "task" | "acceptanceCriteria" | "fact" | "type")),
                };
                collect_prompts(&entry.value, is_prompt, prompts);
            }
        }
        _ => {}
    }
}

/// The surroundings of a value in the file.
#[derive(Default)]
struct SecretContext<'a> {
    /// The key that holds it.
    key: &'a str,
    /// Whether the schema says that the value, or all values in it, are secret.
    is_hidden: bool,
}

fn walk(found: &mut FoundSecrets, schema: &Value, node: &YamlNode, place: &SecretContext<'_>) {
    let schemas = resolved(schema);
    let is_marked = |schema: &Value| schema["writeOnly"] == true;
    let is_hidden = place.is_hidden || is_marked(schema) || schemas.iter().any(|schema| is_marked(schema));
    match &node.content {
        YamlContent::Mapping(entries) => {
            let is_environment = is_hidden && matches!(place.key, "env" | "headers");
            if is_hidden && !is_environment {
                found.hide(node);
                found.learn(node);
                return;
            }
            for entry in entries {
                let key = entry.key.text.as_str();
                let property = schemas.iter().find_map(|schema| schema["properties"].get(key));
                let of_all = schemas.iter().map(|schema| &schema["additionalProperties"]);
                let other = of_all.clone().find(|schema| schema.is_object());
                let is_unknown = property.is_none() && of_all.clone().any(|schema| *schema == false);
                if property.is_none() && is_misplaced_in_key(key) {
                    // Somebody has written the value, or the secret itself, where a name belongs.
                    found.spans.push(entry.key.span);
                    if is_environment || is_unknown {
                        found.texts.push(key.to_owned());
                        let values = ["=", ": "].into_iter().filter_map(|separator| Some(key.split_once(separator)?.1));
                        found.texts.extend(values.map(|value| value.trim().to_owned()));
                    }
                }
                if is_environment {
                    found.hide(&entry.value);
                    if is_key_name(key) {
                        found.learn(&entry.value);
                    } else if let Some(text) = entry.value.text() {
                        let is_secret = |part: &str| match place.key {
                            "headers" => is_secret_header(key, part),
                            _ => is_surely_a_key(part) || looks_like_a_key(part),
                        };
                        let is_whole = is_secret(text);
                        found
                            .guessed
                            .extend(literal_parts(text).into_iter().filter(|part| is_whole || is_secret(part)));
                    }
                    entry.value.text().into_iter().for_each(|text| learn_parts(found, key, text));
                } else {
                    if is_unknown {
                        let known = schemas.iter().filter_map(|schema| schema["properties"].as_object());
                        let known = known.flat_map(|properties| properties.keys().map(String::as_str));
                        let near = nearest(key, known.chain(SECRET_KEYS));
                        found.hide_unknown(key, near, &entry.value);
                    }
                    let schema = property.or(other).unwrap_or(&Value::Null);
                    walk(found, schema, &entry.value, &SecretContext { key, is_hidden: false });
                }
            }
        }
        YamlContent::List(items) => {
            if is_hidden {
                found.hide(node);
                if place.key == "args" {
                    learn_arguments(found, items)
                } else {
                    found.learn(node)
                }
                return;
            }
            let item_schema = schemas.iter().map(|schema| &schema["items"]).find(|items| items.is_object());
            for item in items {
                walk(
                    found,
                    item_schema.unwrap_or(&Value::Null),
                    item,
                    &SecretContext { key: place.key, is_hidden: false },
                );
            }
        }
        YamlContent::String(text) => {
            // A text where there can be none: a colon was forgotten, perhaps behind the name of a key.
            let is_no_text = |kind: &Value| matches!(kind.as_str(), Some("object" | "array" | "null"));
            let is_misplaced = schemas.iter().all(|schema| match &schema["type"] {
                Value::Array(kinds) => kinds.iter().all(is_no_text),
                kind => is_no_text(kind),
            });
            let is_secret = is_hidden
                || is_named_secret(place.key, text) && is_worth_hiding(text.trim())
                || is_misplaced && looks_like_a_key(text);
            if is_secret {
                found.hide(node);
                found.learn(node);
            }
            if place.key == "command" {
                learn_tokens(found, text.split_whitespace());
            }
            learn_parts(found, place.key, text);
        }
        YamlContent::Int(_) | YamlContent::Float(_) | YamlContent::Bool(_) | YamlContent::Null if is_hidden => {
            found.hide(node);
            found.learn(node);
        }
        _ => {}
    }
}

/// The schemas behind `$ref` and `anyOf`.
fn resolved(schema: &Value) -> Vec<&Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolved(&schema::shared()["$defs"][name]);
    }
    match schema["anyOf"].as_array() {
        Some(branches) => branches.iter().flat_map(resolved).collect(),
        None => vec![schema],
    }
}

/// Whether a job can have such a key somewhere.
pub(super) fn is_known_key(name: &str) -> bool {
    static KEYS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
        let mut keys = BTreeSet::new();
        let mut open = vec![schema::shared()];
        while let Some(schema) = open.pop() {
            keys.extend(schema["properties"].as_object().into_iter().flat_map(|keys| keys.keys().map(String::as_str)));
            open.extend(schema.as_object().into_iter().flat_map(|entries| entries.values()));
            open.extend(schema.as_array().into_iter().flatten());
        }
        keys
    });
    KEYS.contains(name)
}

#[cfg(test)]
mod tests;
