//! The entries of an object on their way into types.

use serde_json::{Map, Value};

use super::cursor::{Cursor, Spelling, UnknownKeys};
use super::json::JsonEntry;
use crate::evidence::LazyValue;
use crate::text::nearest;

/// For how many names there is room at first: few objects have more.
const USUAL_NAMES: usize = 8;

/// The entries of an object, asked for one by one; those that nobody asked for are left over.
pub(super) struct Fields<'a> {
    /// The object.
    pub(super) cursor: Cursor<'a>,
    spelling: Spelling,
    entries: &'a [JsonEntry<'a>],
    names: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Nothing was asked for yet.
    pub(super) fn new(cursor: Cursor<'a>, spelling: Spelling, entries: &'a [JsonEntry<'a>]) -> Fields<'a> {
        Fields { cursor, spelling, entries, names: Vec::with_capacity(USUAL_NAMES) }
    }

    /// The value of this key, also where it is null. Of a key that comes twice the last one counts.
    pub(super) fn even_null(&mut self, name: &'static str) -> Option<Cursor<'a>> {
        self.names.push(name);
        let mut found: Option<&'a JsonEntry<'a>> = None;
        for entry in self.entries {
            if self.spelling.fits(name, &entry.key) {
                if let Some(former) = found.filter(|former| former.key != entry.key) {
                    let message = format!("`{}` is here already, spelled `{}`", entry.key, former.key);
                    self.cursor.findings.error(
                        entry.start,
                        entry.end,
                        &message,
                        Some("keep one of the two".to_owned()),
                    );
                }
                found = Some(entry);
            }
        }
        found.map(|entry| self.cursor.at(&entry.value))
    }

    /// The value of this key; null is as good as none.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Cursor<'a>> {
        self.even_null(name).filter(|value| !value.is_null())
    }

    /// The value of this key; none is an error.
    pub(super) fn required(&mut self, name: &'static str) -> Option<Cursor<'a>> {
        let value = self.get(name);
        if value.is_none() {
            let spelled = self.entries.iter().find(|entry| is_slip(name, &entry.key));
            match spelled {
                Some(entry) => self.cursor.findings.error(
                    entry.start,
                    entry.end,
                    &format!("`{name}` is missing"),
                    Some(format!("is `{}` meant to be `{name}`?", entry.key)),
                ),
                None => {
                    let (start, end) = (self.cursor.node.start, self.cursor.node.start + 1);
                    self.cursor.findings.error(start, end, &format!("`{name}` is missing"), None);
                }
            }
        }
        value
    }

    /// The text of this key.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        self.get(name)?.text().map(str::to_owned)
    }

    /// The number of this key.
    pub(super) fn number(&mut self, name: &'static str) -> Option<f64> {
        self.get(name)?.number()
    }

    /// The truth of this key.
    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.get(name)?.flag()
    }

    /// The items of this key's list.
    pub(super) fn items(&mut self, name: &'static str) -> Vec<Cursor<'a>> {
        self.get(name).map(Cursor::items).unwrap_or_default()
    }

    /// The object of this key, as it is.
    pub(super) fn map(&mut self, name: &'static str) -> Map<String, Value> {
        self.get(name).and_then(Cursor::map).unwrap_or_default()
    }

    /// The object of this key, which is read when somebody looks at it.
    pub(super) fn object(&mut self, name: &'static str) -> LazyValue {
        let object = self.get(name).and_then(Cursor::object);
        object.unwrap_or_else(|| Value::Object(Map::new()).into())
    }

    /// Whether the object has this key, spelled in one of its ways.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| self.spelling.fits(name, &entry.key))
    }

    /// The keys that nobody asked for.
    pub(super) fn rest(self, unknown: UnknownKeys) -> Map<String, Value> {
        let mut kept = Map::new();
        let is_asked_for = |key: &str| self.names.iter().any(|name| self.spelling.fits(name, key));
        for entry in self.entries.iter().filter(|entry| !is_asked_for(&entry.key)) {
            let open = self.names.iter().copied().filter(|name| !self.has(name));
            let help = nearest(&entry.key, open).map(|name| format!("did you mean `{name}`?"));
            let findings = self.cursor.findings;
            match unknown {
                UnknownKeys::Refused => {
                    findings.error(entry.start, entry.end, &format!("unknown key `{}`", entry.key), help);
                }
                UnknownKeys::Kept => {
                    let message = format!("unknown key `{}`; it is kept, but means nothing", entry.key);
                    findings.warn(entry.start, entry.end, &message, help);
                    kept.insert(entry.key.as_ref().to_owned(), entry.value.to_json());
                }
            }
        }
        kept
    }
}

/// Whether a key is this name misspelled.
fn is_slip(name: &str, key: &str) -> bool {
    nearest(key, std::iter::once(name)).is_some()
}
