//! The structural check: the tree against the JSON Schema, every difference with its place.
//!
//! Invariants: the schema is the only source of what is right, nothing in here names a key of a job; it understands the
//! part of JSON Schema that `written` uses and no more (`schema_subset` in the tests holds the two together); one
//! mistake is reported once.

mod mapping;
mod number;
mod wording;

use regex::Regex;
use serde_json::Value;

use super::nearest::nearest;
use super::problem::{Report, listed, quoted, quoted_key, shortened};
use super::source::{Key, SourceSpan, YamlContent, YamlNode};
use wording::{article, found, kind_of};

/// Reports every difference between the tree and the schema.
pub(super) fn check(report: &mut Report<'_>, schema: &Value, root: &YamlNode) {
    Check { report, root: schema }.value(schema, root, &ValueContext { key: None, label: "the job file".to_owned() });
}

/// Reports every difference between the tree and one of the schema's definitions.
pub(super) fn check_part(report: &mut Report<'_>, schema: &Value, definition: &str, root: &YamlNode) {
    let label = "the file".to_owned();
    Check { report, root: schema }.value(&schema["$defs"][definition], root, &ValueContext { key: None, label });
}

/// The surroundings of a value in the file.
struct ValueContext<'a> {
    /// The key that holds it, if a key does.
    key: Option<&'a Key>,
    /// Its name in messages.
    label: String,
}

struct Check<'r, 'a> {
    report: &'r mut Report<'a>,
    root: &'r Value,
}

impl<'r> Check<'r, '_> {
    fn value(&mut self, schema: &'r Value, node: &YamlNode, place: &ValueContext<'_>) {
        let schema = self.resolved(schema, node);
        if let Some(branches) = schema["anyOf"].as_array() {
            self.none_of(branches, node, place);
            return;
        }
        let Some(types) = types(schema) else {
            match choices(schema) {
                Some(choices) => self.choice(&choices, node, place),
                None => match NamedOrKeyed::from_schema(schema) {
                    Some(allowed) => self.name_or_key(&allowed, node, place),
                    None => self.anything(node),
                },
            }
            return;
        };
        match &node.content {
            content if !is_one_of(&types, content) => {
                self.wrong_type(schema, types[0], node, place);
            }
            YamlContent::String(text) => match choices(schema) {
                Some(choices) => self.choice(&choices, node, place),
                None => self.text(schema, text, node, place),
            },
            YamlContent::Int(_) | YamlContent::Float(_) => self.number(schema, node, place),
            YamlContent::List(items) => self.list(schema, items, node, place),
            YamlContent::Mapping(_) => self.mapping(schema, node, place),
            YamlContent::Null | YamlContent::Bool(_) => {}
        }
    }

    /// The schema behind `$ref`, and the branch of an `anyOf` that fits the node.
    fn resolved(&self, schema: &'r Value, node: &YamlNode) -> &'r Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            return self.resolved(&self.root["$defs"][name], node);
        }
        let Some(branches) = schema["anyOf"].as_array() else { return schema };
        let fits =
            branches.iter().map(|branch| (branch, self.referred(branch))).find(|(_, branch)| match types(branch) {
                Some(types) => is_one_of(&types, &node.content),
                None if choices(branch).is_some() => matches!(node.content, YamlContent::String(_)),
                None => node.content != YamlContent::Null,
            });
        let fits = fits.map(|(branch, _)| branch);
        match fits {
            Some(branch) => self.resolved(branch, node),
            // A branch or null: any other value is checked against the branch.
            None if branches.iter().filter(|branch| branch["type"] != "null").count() == 1 => {
                branches.first().map_or(schema, |branch| self.resolved(branch, node))
            }
            None => schema,
        }
    }

    fn referred(&self, schema: &'r Value) -> &'r Value {
        match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(name) => self.referred(&self.root["$defs"][name]),
            None => schema,
        }
    }

    /// Where to point for a value: what is written, or its key where nothing or a whole block is written.
    fn place_of(&self, node: &YamlNode, place: &ValueContext<'_>) -> SourceSpan {
        match (place.key, node.entries().first()) {
            (Some(key), _) if node.span.start == node.span.end => key.span,
            (None, Some(first)) => first.key.span,
            _ => node.span,
        }
    }

    fn wrong_type(&mut self, schema: &Value, expected: &str, node: &YamlNode, place: &ValueContext<'_>) {
        let written = self.report.lines.written(node.span);
        let help = wording::help_for_type(schema, expected, node, written, place);
        let message = format!("{}: expected {}, found {}", place.label, article(expected), found(node, written));
        self.report.add(self.place_of(node, place), message).try_this(help);
    }

    /// A value of a type that none of several branches has.
    fn none_of(&mut self, branches: &'r [Value], node: &YamlNode, place: &ValueContext<'_>) {
        let expected = branches.iter().filter(|branch| branch["type"] != "null").flat_map(|branch| {
            let branch = self.referred(branch);
            match choices(branch) {
                Some(allowed) => allowed.iter().map(|text| quoted(text)).collect::<Vec<_>>(),
                None => types(branch).into_iter().flatten().map(|kind| article(kind).to_owned()).collect(),
            }
        });
        let expected = listed(&expected.collect::<Vec<_>>(), "or");
        let written = self.report.lines.written(node.span);
        let message = format!("{}: expected {expected}, found {}", place.label, found(node, written));
        self.report.add(self.place_of(node, place), message);
    }

    fn text(&mut self, schema: &Value, text: &str, node: &YamlNode, place: &ValueContext<'_>) {
        match schema["pattern"].as_str() {
            // Something that is not a space.
            Some(r"\S") if text.trim().is_empty() => {
                self.report.add(self.place_of(node, place), format!("{} is blank", place.label));
            }
            Some(pattern) if pattern != r"\S" && Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text)) => {
                let form = schema["description"].as_str().unwrap_or("another form");
                let span = self.place_of(node, place);
                // A sentence of the schema's, not the name of a form.
                if form.starts_with(char::is_uppercase) {
                    let sentence = form.split_whitespace().collect::<Vec<_>>().join(" ");
                    let message = format!("{} can't be {}", place.label, quoted(text));
                    self.report.add(span, message).try_this(Some(sentence));
                } else {
                    self.report.add(span, format!("{}: expected {form}", place.label));
                }
            }
            _ => {}
        }
    }

    fn choice(&mut self, choices: &[&str], node: &YamlNode, place: &ValueContext<'_>) {
        let (span, written) = (self.place_of(node, place), self.report.lines.written(node.span));
        let Some(text) = node.text() else {
            let message = format!("{}: expected one of its values, found {}", place.label, found(node, written));
            self.report.add(span, message).expect(choices.iter().copied());
            return;
        };
        if !choices.contains(&text) {
            let help = nearest(text, choices.iter().copied()).map(|near| format!("did you mean {}?", quoted(near)));
            let message = format!("{} can't be \"{}\"", place.label, shortened(text));
            self.report.add(span, message).expect(choices.iter().copied()).try_this(help);
        }
    }

    /// A name alone, or one key with a value.
    fn name_or_key(&mut self, allowed: &NamedOrKeyed<'r>, node: &YamlNode, place: &ValueContext<'_>) {
        let NamedOrKeyed { names, keyed } = allowed;
        let written = node.entries().first().map(|entry| entry.key.text.as_str());
        match keyed.iter().find(|(key, _)| Some(*key) == written) {
            Some((_, branch)) => self.value(branch, node, place),
            None if node.entries().is_empty() => {
                let keys = keyed.iter().map(|(key, _)| *key);
                self.choice(&names.iter().copied().chain(keys).collect::<Vec<_>>(), node, place);
                // The key alone says too little.
                if let Some(key) = keyed.iter().map(|(key, _)| *key).find(|key| node.text() == Some(*key)) {
                    let message = format!("{}: {} needs a value", place.label, quoted(key));
                    self.report.add(node.span, message).try_this(Some(format!("write {key}: and its value")));
                }
            }
            None => {
                let keys: Vec<String> = keyed.iter().map(|(key, _)| quoted(key)).collect();
                let span = self.place_of(node, place);
                let expected = listed(&keys, "or");
                let found = written.map(|key| format!(", found {}", quoted(key))).unwrap_or_default();
                self.report.add(span, format!("{}: expected the key {expected}{found}", place.label));
            }
        }
    }

    fn list(&mut self, schema: &'r Value, items: &[YamlNode], node: &YamlNode, place: &ValueContext<'_>) {
        if (items.len() as u64) < schema["minItems"].as_u64().unwrap_or(0) {
            let span = place.key.map_or(node.span, |key| key.span);
            self.report.add(span, format!("{} is empty; it needs at least one entry", place.label));
        }
        let key = place.key.map_or(place.label.clone(), |key| quoted_key(&key.text));
        for item in items {
            self.value(&schema["items"], item, &ValueContext { key: None, label: format!("an entry of {key}") });
        }
    }

    /// A value that may be anything must still be something that JSON can hold exactly.
    fn anything(&mut self, node: &YamlNode) {
        self.exact(node);
        node.items().iter().for_each(|item| self.anything(item));
        node.entries().iter().for_each(|entry| self.anything(&entry.value));
    }
}

/// The types that the schema allows, the main one first; `None` where it does not say.
fn types(schema: &Value) -> Option<Vec<&str>> {
    match &schema["type"] {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// The texts that the schema allows, if it lists them.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(allowed) = schema["enum"].as_array() {
        return Some(allowed.iter().filter_map(Value::as_str).collect());
    }
    let branches = schema["oneOf"].as_array()?;
    branches.iter().map(|branch| branch["const"].as_str()).collect()
}

/// An enumeration of which some names have a value.
struct NamedOrKeyed<'s> {
    /// Those that stand alone.
    names: Vec<&'s str>,
    /// The keys of the others, each with the schema of the whole.
    keyed: Vec<(&'s str, &'s Value)>,
}

impl<'s> NamedOrKeyed<'s> {
    fn from_schema(schema: &'s Value) -> Option<NamedOrKeyed<'s>> {
        let branches = schema["oneOf"].as_array()?;
        let names: Vec<&str> = branches.iter().filter_map(|branch| branch["const"].as_str()).collect();
        let keyed = branches.iter().filter(|branch| branch["const"].is_null() && branch["type"] == "object");
        let keyed: Vec<(&str, &Value)> = keyed.filter_map(|it| Some((it["required"][0].as_str()?, it))).collect();
        (!names.is_empty() && !keyed.is_empty()).then_some(NamedOrKeyed { names, keyed })
    }
}

/// An integer is a number too.
fn is_one_of(types: &[&str], content: &YamlContent) -> bool {
    let kind = kind_of(content);
    types.contains(&kind) || kind == "integer" && types.contains(&"number")
}
