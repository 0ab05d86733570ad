//! Secrets of which each of several documents holds a piece: the deltas of a stream.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Redactor;
use super::redactor::redact_spans;

impl Redactor {
    /// Blots out the pieces of secrets that the texts at the same place of these documents hold together. A text without
    /// such a piece is left to [`Redactor::redact_json`].
    pub fn redact_across<'v>(&self, documents: impl Iterator<Item = &'v mut Value>) {
        if self.is_empty() {
            return;
        }
        let mut texts: BTreeMap<String, Vec<&mut String>> = BTreeMap::new();
        documents.for_each(|document| by_place(document, &mut String::new(), &mut texts));
        for pieces in texts.into_values().filter(|pieces| pieces.len() > 1) {
            let joined: String = pieces.iter().map(|piece| piece.as_str()).collect();
            let spans = self.find(&joined);
            let mut end = joined.len();
            for piece in pieces.into_iter().rev() {
                let start = end - piece.len();
                let touching: Vec<_> = spans.iter().filter(|span| span.start < end && span.end > start).collect();
                if touching.iter().any(|span| span.start < start || span.end > end) {
                    // What stands here as a whole goes too: without a part of it, it would be found no more.
                    let within =
                        touching.into_iter().map(|span| span.start.max(start) - start..span.end.min(end) - start);
                    let parts = within.chain(self.find(piece)).filter(|part| piece.get(part.clone()).is_some());
                    *piece = redact_spans(piece, parts.collect()).into_owned();
                }
                end = start;
            }
        }
    }
}

/// The texts of a document by the keys that lead to them, whatever their place in lists.
fn by_place<'v>(value: &'v mut Value, place: &mut String, texts: &mut BTreeMap<String, Vec<&'v mut String>>) {
    match value {
        Value::String(text) => match texts.get_mut(place) {
            Some(pieces) => pieces.push(text),
            None => drop(texts.insert(place.clone(), vec![text])),
        },
        Value::Array(items) => items.iter_mut().for_each(|item| by_place(item, place, texts)),
        Value::Object(entries) => {
            for (key, value) in entries {
                let length = place.len();
                place.push('.');
                place.push_str(key);
                by_place(value, place, texts);
                place.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
