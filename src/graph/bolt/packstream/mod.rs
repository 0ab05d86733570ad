//! PackStream, the encoding of everything that Bolt says: <https://neo4j.com/docs/bolt/current/packstream/>.
//!
//! Invariants: no bytes make the reader panic, recurse deeply or reserve more memory than a small multiple of what was
//! really received; what the writer writes, the reader reads back.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::{Writer, write};

/// A value as it is packed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pack {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Bytes(Vec<u8>),
    String(String),
    List(Vec<Pack>),
    /// In the order of the bytes; a key may come twice.
    Map(Vec<(String, Pack)>),
    /// A tag and what belongs to it: a message, a node, a date.
    Structure(u8, Vec<Pack>),
}

impl Pack {
    /// The value of a key in a map; the last one counts.
    pub(super) fn get(&self, key: &str) -> Option<&Pack> {
        match self {
            Pack::Map(entries) => entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Pack::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number of an integer.
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Pack::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<&str> for Pack {
    fn from(text: &str) -> Pack {
        Pack::String(text.to_owned())
    }
}

impl From<String> for Pack {
    fn from(text: String) -> Pack {
        Pack::String(text)
    }
}

impl From<i64> for Pack {
    fn from(number: i64) -> Pack {
        Pack::Int(number)
    }
}

impl From<bool> for Pack {
    fn from(truth: bool) -> Pack {
        Pack::Bool(truth)
    }
}

/// A map out of names and values.
pub(super) fn map<const N: usize>(entries: [(&str, Pack); N]) -> Pack {
    Pack::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
