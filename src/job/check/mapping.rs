//! Mappings: which keys there may be, must be, and may not be together.

use serde_json::Value;

use super::{Check, ValueContext};
use crate::job::nearest::nearest;
use crate::job::problem::{listed, quoted, quoted_key};
use crate::job::source::{Key, SourceSpan, YamlNode};

impl<'r> Check<'r, '_> {
    pub(super) fn mapping(&mut self, schema: &'r Value, node: &YamlNode, place: &ValueContext<'_>) {
        // A key that is there under a wrong name: it is not missing as well.
        let mut misspelt = Vec::new();
        for entry in node.entries() {
            let key = &entry.key;
            match schema["properties"].get(&key.text) {
                Some(property) => {
                    self.value(property, &entry.value, &ValueContext { key: Some(key), label: quoted_key(&key.text) });
                }
                None if schema["additionalProperties"].is_object() => {
                    let place = ValueContext { key: Some(key), label: quoted_key(&key.text) };
                    self.value(&schema["additionalProperties"], &entry.value, &place);
                }
                None => misspelt.extend(self.unknown_key(schema, node, key)),
            }
        }
        let at = place.key.map_or_else(|| self.place_of(node, place), |key| key.span);
        self.required(schema, node, place, at, &misspelt);
        if self.one_kind(schema, node, at, &misspelt) {
            self.together(schema, node);
        }
        self.apart(schema, node);
    }

    /// Reports a key that the schema does not have; returns the key that its author probably had in mind.
    fn unknown_key(&mut self, schema: &'r Value, node: &YamlNode, key: &Key) -> Option<&'r str> {
        if schema["additionalProperties"] != false {
            return None;
        }
        let known: Vec<&'r str> = names(&schema["properties"]);
        // Of two that are as near, the one that must be there.
        let (must, may): (Vec<&str>, Vec<&str>) =
            known.iter().copied().filter(|name| node.get(name).is_none()).partition(|name| {
                texts(&schema["required"]).chain(texts(&schema["then"]["required"])).any(|must| must == *name)
            });
        let near = nearest(&key.text, must.into_iter().chain(may));
        let help = match near {
            Some(near) => Some(format!("did you mean {}?", quoted(near))),
            None => self.belongs_in(&key.text),
        };
        self.report.add(key.span, format!("unknown key {}", quoted_key(&key.text))).expect(known).try_this(help);
        near
    }

    /// Where else in the job the key is known.
    fn belongs_in(&self, key: &str) -> Option<String> {
        let parts = self.root["properties"].as_object()?;
        let owners: Vec<String> =
            parts.iter().filter(|(_, part)| self.has_key(part, key)).map(|(name, _)| quoted(name)).collect();
        if self.root["properties"].get(key).is_some() {
            Some(format!("{} belongs to the job itself, at the start of a line", quoted(key)))
        } else if owners.is_empty() {
            None
        } else {
            Some(format!("{} belongs in {}", quoted(key), listed(&owners, "or")))
        }
    }

    /// Whether a part of the job, or an entry of a list there, has the key.
    fn has_key(&self, part: &Value, key: &str) -> bool {
        let target = |schema: &Value| {
            let path = schema["$ref"].as_str().or_else(|| schema["anyOf"][0]["$ref"].as_str())?;
            self.root["$defs"].get(path.strip_prefix("#/$defs/")?)
        };
        [target(part), target(&part["items"])].into_iter().flatten().any(|owner| owner["properties"].get(key).is_some())
    }

    fn required(
        &mut self,
        schema: &Value,
        node: &YamlNode,
        place: &ValueContext<'_>,
        at: SourceSpan,
        misspelt: &[&str],
    ) {
        let is_missing = |name: &&str| node.get(name).is_none() && !misspelt.contains(name);
        // `if` keys are not there, `then` others must be.
        let is_misspelt = || texts(&schema["if"]["not"]["anyOf"][0]["required"]).any(|key| misspelt.contains(&key));
        let applies = schema["if"].is_object() && holds(&schema["if"], node) && !is_misspelt();
        let beside = applies.then(|| texts(&schema["then"]["required"]));
        let required = texts(&schema["required"]).chain(beside.into_iter().flatten());
        let missing: Vec<&str> = required.filter(is_missing).collect();
        let names: Vec<String> = missing.iter().map(|name| quoted(name)).collect();
        let keys = match missing.len() {
            0 => return,
            1 => "key",
            _ => "keys",
        };
        let whole = place.key.map_or_else(|| place.label.clone(), |key| quoted_key(&key.text));
        let help = missing.iter().find_map(|name| {
            let property = &schema["properties"][name];
            let may_be_empty = property["type"] == "array" && property["minItems"].is_null();
            may_be_empty.then(|| format!("write `{name}: []` if there are none"))
        });
        self.report.add(at, format!("missing {keys} {} in {whole}", listed(&names, "and"))).try_this(help);
    }

    /// `oneOf` with one required key each: how kinds are distinguished. Returns whether the kind is clear.
    fn one_kind(&mut self, schema: &Value, node: &YamlNode, at: SourceSpan, misspelt: &[&str]) -> bool {
        let Some(branches) = schema["oneOf"].as_array() else { return true };
        let kinds: Vec<&str> = branches.iter().filter_map(|branch| branch["required"][0].as_str()).collect();
        let noun = schema["title"].as_str().unwrap_or("entry");
        let mut present =
            node.entries().iter().map(|entry| &entry.key).filter(|key| kinds.contains(&key.text.as_str()));
        match (present.next(), present.next()) {
            (None, _) => {
                if !kinds.iter().any(|kind| misspelt.contains(kind)) {
                    let kinds: Vec<String> = kinds.iter().map(|kind| quoted(kind)).collect();
                    self.report.add(at, format!("this {noun} needs one of the keys {}", listed(&kinds, "and")));
                }
                false
            }
            (Some(_), None) => true,
            (Some(first), Some(second)) => {
                let (one, other) = (quoted(&first.text), quoted(&second.text));
                let message = format!("{other} is another kind of {noun} than {one} in line {}", first.span.line);
                let help = format!("make two {noun}s of it, one with {one} and one with {other}");
                self.report.add(second.span, message).try_this(help);
                false
            }
        }
    }

    /// `dependentRequired`: keys that need another one beside them.
    fn together(&mut self, schema: &Value, node: &YamlNode) {
        for entry in node.entries() {
            for needed in texts(&schema["dependentRequired"][&entry.key.text]) {
                if node.get(needed).is_none() {
                    let message = format!("{} needs {} beside it", quoted_key(&entry.key.text), quoted(needed));
                    let purpose = schema["properties"][needed]["description"].as_str();
                    let help = purpose.map(|purpose| format!("{}: {purpose}", quoted(needed)));
                    self.report.add(entry.key.span, message).try_this(help);
                }
            }
        }
    }

    /// `not` with required keys, in `allOf`: keys that exclude each other.
    fn apart(&mut self, schema: &Value, node: &YamlNode) {
        for rule in schema["allOf"].as_array().into_iter().flatten() {
            let pair: Option<Vec<_>> = texts(&rule["not"]["required"]).map(|name| node.entry(name)).collect();
            let Some(mut pair) = pair.filter(|pair| pair.len() == 2) else { continue };
            pair.sort_by_key(|entry| entry.key.span);
            let (first, second) = (&pair[0].key, &pair[1].key);
            self.report
                .add(
                    second.span,
                    format!("{} excludes {} in line {}", quoted(&second.text), quoted(&first.text), first.span.line),
                )
                .try_this("keep one of the two".to_owned());
        }
    }
}

/// Whether a mapping has the keys that a rule asks for.
fn holds(rule: &Value, node: &YamlNode) -> bool {
    let properties = rule["properties"].as_object().into_iter().flatten();
    (rule["not"].is_null() || !holds(&rule["not"], node))
        && rule["anyOf"].as_array().is_none_or(|rules| rules.iter().any(|rule| holds(rule, node)))
        && texts(&rule["required"]).all(|key| node.get(key).is_some())
        && properties.into_iter().all(|(key, rule)| node.get(key).is_none_or(|part| holds(rule, part)))
}

fn names(object: &Value) -> Vec<&str> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
