//! A word of a text that says something, and when two of them say the same.

use super::words::{Script, Word, is_same_stem};

/// A content word: its place, its groups of synonyms and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentWord {
    pub(super) word: Word,
    pub(super) synonyms: u128,
    pub(super) number: Option<u64>,
}

/// A content word of a text, with its characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    pub(super) text: &'a str,
    pub(super) synonyms: u128,
    pub(super) number: Option<u64>,
    pub(super) script: Script,
}

impl Content<'_> {
    /// Whether two words say the same: one stem, one number, or a known synonym.
    pub(super) fn is_same(&self, other: &Content<'_>) -> bool {
        self.synonyms & other.synonyms != 0
            || self.number.is_some() && self.number == other.number
            || is_same_stem(self.text, other.text)
    }

    pub(super) fn is_number(&self) -> bool {
        self.number.is_some()
    }

    pub(super) fn has_digit(&self) -> bool {
        self.text.bytes().any(|byte| byte.is_ascii_digit())
    }
}
