//! Whether a judge's reply stood in what it was shown: as an example of its form, or as somebody's words.

mod loose;
mod readings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::LazyCell;

use serde_json::{Map, Value};

use super::blocks;
use crate::prompt::unescape;
use crate::text::{DenseText, folded};
use loose::{ShownReason, stands_loosely};
use readings::{plain, readings, tables_as_lines};

/// A text that is no object is somebody else's only if it is longer than this, in bytes: a short word stands anywhere.
const LONGEST_WORD: usize = 24;

/// How deep texts within values are read as values.
const DEPTH: usize = 4;

/// A reason with fewer letters and digits is anybody's.
const LEAST_LETTERS: usize = 16;
/// So many letters of a reason are compared.
const MOST_LETTERS: usize = 400;

/// Keys of what a verdict is about, or rests on: they do not say how it decides.
const ABOUT: [&str; 6] = ["id", "index", "item", "turn", "quotes", "turnsRead"];

/// Whether a reply, or one of its verdicts, repeats a part of the prompt: with any spaces, lines and punctuation, in any order of its
/// keys, and also where it quotes something else. One whose reason differs in a few letters, and that decides the same, repeats it too.
pub(in crate::metric) fn stood_before(prompt: &str, raw: &str) -> bool {
    let shown = unescape(prompt);
    let (dense, dense_shown) = (LazyCell::new(|| DenseText::new(prompt)), LazyCell::new(|| DenseText::new(&shown)));
    let is_in = |part: &str| dense.contains(part) || (shown != prompt && dense_shown.contains(part));
    let Ok(reply) = serde_json::from_str::<Value>(raw.trim()) else {
        let of_blocks: Vec<Map<String, Value>> = blocks::blocks(raw).into_iter().map(verdict_of_block).collect();
        let is_near = repeats(&shown, &of_blocks.iter().collect::<Vec<_>>());
        return is_near || raw.trim().len() > LONGEST_WORD && (is_in(raw) || stands_in(raw, &shown));
    };
    let Value::Object(reply) = reply else { return false };
    if reply.is_empty() {
        return false;
    }
    if is_in(raw) {
        return true;
    }
    let list = |key: &str| reply.get(key).and_then(Value::as_array).into_iter().flatten();
    let verdicts = list("verdicts").chain(list("tasks")).chain(reply.get("tone")).filter_map(Value::as_object);
    let own: Vec<&Map<String, Value>> = verdicts.chain([&reply]).filter(|it| !it.is_empty()).collect();
    repeats(&shown, &own)
}

/// Whether one of these verdicts stands in a text.
fn repeats(shown: &str, own: &[&Map<String, Value>]) -> bool {
    let is_one = |known: &Map<String, Value>| own.iter().any(|it| is_alike(it, known) || is_near(it, known));
    let is_loose = |shown: &str| {
        let known = ShownReason::all(shown);
        own.iter().any(|it| stands_loosely(shown, &known, it))
    };
    let readings: Vec<Cow<'_, str>> = readings(shown).collect();
    readings.iter().any(|text| objects_of(text, DEPTH, &is_one))
        || readings.iter().any(|text| is_loose(text) || tables_as_lines(text).is_some_and(|lines| is_loose(&lines)))
}

/// A block of lines as the object that says the same.
fn verdict_of_block(block: blocks::Block) -> Map<String, Value> {
    let decision = block.verdict.or(block.label).unwrap_or_default();
    let parts = [("reason", block.reason), ("verdict", decision)];
    parts.into_iter().map(|(key, text)| (key.to_owned(), Value::String(text))).collect()
}

/// The letters and digits of a text, whatever else it is written with.
fn letters(text: &str) -> String {
    folded(&plain(text)).chars().filter(|c| c.is_alphanumeric()).collect()
}

fn stands_in(raw: &str, shown: &str) -> bool {
    let raw = letters(raw);
    raw.chars().count() >= LONGEST_WORD && letters(shown).contains(&raw)
}

/// The reasons among what a verdict says: texts that are nobody else's by chance.
fn reasons(verdict: &Map<String, Value>) -> impl Iterator<Item = String> {
    let own = verdict.iter().filter(|(key, _)| !ABOUT.contains(&key.as_str()));
    let texts = own.filter_map(|(_, value)| Some(letters(value.as_str()?)));
    texts.filter(|text| text.chars().nth(LEAST_LETTERS - 1).is_some())
}

/// How a verdict decides: what it says beside its reasons, by key.
fn decisions(verdict: &Map<String, Value>) -> impl Iterator<Item = (&str, String)> {
    let own = verdict.iter().filter(|(key, _)| !ABOUT.contains(&key.as_str()));
    let words = own.filter_map(|(key, value)| Some((key.as_str(), decision(value)?)));
    words.filter(|(_, word)| word.chars().nth(LEAST_LETTERS - 1).is_none())
}

/// A decision as a word: numbers are the same however they are written.
fn decision(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) => Some(number.to_string()),
            Err(_) => Some(letters(text)).filter(|word| !word.is_empty()),
        },
        Value::Number(number) => Some(number.as_f64()?.to_string()),
        Value::Bool(holds) => Some(holds.to_string()),
        _ => None,
    }
}

/// Whether two verdicts decide the same for nearly the same reason.
fn is_near(own: &Map<String, Value>, known: &Map<String, Value>) -> bool {
    let shared = || {
        let own = decisions(own);
        own.filter_map(|(key, word)| Some((word, known.get(key).and_then(decision)?)))
    };
    shared().next().is_some()
        && shared().all(|(own, known)| own == known)
        && reasons(own).any(|own| reasons(known).any(|known| is_near_text(&own, &known)))
}

/// Whether a few letters at most tell two texts apart.
fn is_near_text(one: &str, other: &str) -> bool {
    let cut = |text: &str| text.chars().take(MOST_LETTERS).collect::<String>();
    let (one, other) = (cut(one), cut(other));
    let (long, short) = {
        let (a, b) = (one.chars().count(), other.chars().count());
        (a.max(b), a.min(b))
    };
    let allowed = allowed(long);
    long - short <= allowed && strsim::levenshtein(&one, &other) <= allowed
}

/// In so many letters may texts differ of which the longer one has this many.
fn allowed(letters: usize) -> usize {
    (letters / 12).max(2)
}

/// Whether one of the objects in a text, or within one of them, is the one that is sought.
fn objects(text: &str, depth: usize, is_sought: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    readings(text).any(|text| objects_of(&text, depth, is_sought))
}

fn objects_of(text: &str, depth: usize, is_sought: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let start = from + at;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        from = match values.next() {
            Some(Ok(value)) if within(&value, depth, is_sought) => return true,
            Some(Ok(_)) => start + values.byte_offset().max(1),
            _ => start + 1,
        };
    }
    false
}

fn within(value: &Value, depth: usize, is_sought: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(map) if map.keys().all(|key| plain(key) == *key) => {
            is_sought(map) || map.values().any(|value| within(value, depth, is_sought))
        }
        // A key that is written as an escape.
        Value::Object(map) => {
            let map: Map<String, Value> = map.iter().map(|(key, value)| (plain(key), value.clone())).collect();
            is_sought(&map) || map.values().any(|value| within(value, depth, is_sought))
        }
        Value::Array(list) => list.iter().any(|value| within(value, depth, is_sought)),
        Value::String(text) => depth > 0 && objects(text, depth - 1, is_sought),
        _ => false,
    }
}

/// Whether two objects say the same; 1 and 1.0 are one number.
fn is_alike(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| is_same(value, other)))
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => is_alike(a, b),
        (Value::String(a), Value::String(b)) if a != b => {
            let (a, b) = (letters(a), letters(b));
            !a.is_empty() && a == b
        }
        (a, b) => a == b,
    }
}
