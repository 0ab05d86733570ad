//! Where the first parts of phrases stand in a text: those that may begin at a place are neighbours in the order of the alphabet.

use std::ops::Range;

use super::{first_bytes, goes_on};

/// The different first parts, sorted.
pub(super) struct PhraseIndex {
    entries: Vec<FirstPart>,
    /// Where the entries with each two first bytes begin, and where the last ones end.
    by_bytes: Vec<u32>,
}

/// The phrases of one first part.
struct FirstPart {
    /// Its first bytes, and which bits of them it has.
    key: u64,
    mask: u64,
    phrases: Range<usize>,
    /// The longest other entry with which this one begins.
    shorter: Option<u32>,
}

/// The place of a first part in a text, with its phrases.
pub(super) struct FoundPart {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) phrases: Range<usize>,
}

/// The two first bytes of a text by its key.
fn two_bytes(key: u64) -> usize {
    (key >> 48) as usize
}

impl PhraseIndex {
    /// Of the first parts of all phrases, in their order.
    pub(super) fn new<'p>(parts: impl Iterator<Item = &'p str>) -> PhraseIndex {
        let mut texts: Vec<&str> = Vec::new();
        let mut entries: Vec<FirstPart> = Vec::new();
        for (at, part) in parts.enumerate() {
            match entries.last_mut() {
                Some(last) if texts.last() == Some(&part) => last.phrases.end = at + 1,
                _ => {
                    // What this one begins with is the one before or one of those with which that begins.
                    let mut shorter = texts.len().checked_sub(1);
                    while let Some(it) = shorter.filter(|it| !part.starts_with(texts[*it])) {
                        shorter = entries[it].shorter.map(|it| it as usize);
                    }
                    let mask = u64::MAX << (8 * 8usize.saturating_sub(part.len()) as u32);
                    let shorter = shorter.map(|it| it as u32);
                    entries.push(FirstPart { key: first_bytes(part), mask, phrases: at..at + 1, shorter });
                    texts.push(part);
                }
            }
        }
        let mut by_bytes = Vec::with_capacity((1 << 16) + 1);
        for (at, entry) in entries.iter().enumerate() {
            by_bytes.resize(by_bytes.len().max(two_bytes(entry.key) + 1), at as u32);
        }
        by_bytes.resize((1 << 16) + 1, entries.len() as u32);
        PhraseIndex { entries, by_bytes }
    }

    /// All places, by their ends, and from the longest on where several end in one. `text` is the first part of a phrase.
    pub(super) fn find<'p>(&self, plain: &str, text: impl Fn(usize) -> &'p str) -> Vec<FoundPart> {
        let mut all = Vec::new();
        let mut push = |start: usize| {
            self.find_at(&plain[start..], &text, |end, phrases| {
                all.push(FoundPart { start, end: start + end, phrases });
            });
        };
        // By far the most places are within a word.
        if plain.is_ascii() {
            let mut goes_on = false;
            for (start, byte) in plain.bytes().enumerate() {
                let is_of_word = byte.is_ascii_alphanumeric();
                if !(goes_on && is_of_word) {
                    push(start);
                }
                goes_on = is_of_word;
            }
        } else {
            let (mut before_that, mut before) = (None, None);
            for (start, c) in plain.char_indices() {
                if !goes_on(before_that, before, c) {
                    push(start);
                }
                (before_that, before) = (before, Some(c));
            }
        }
        all.sort_by_key(|found| (found.end, found.start));
        all
    }

    /// The entries with which a text begins.
    fn find_at<'p>(&self, rest: &str, text: impl Fn(usize) -> &'p str, mut push: impl FnMut(usize, Range<usize>)) {
        let key = first_bytes(rest);
        // An entry of one byte stands before all that begin with it and another.
        let (first, to) = (self.by_bytes[two_bytes(key)] as usize, self.by_bytes[two_bytes(key) + 1] as usize);
        let text_of = |entry: &FirstPart| text(entry.phrases.start);
        // All that the rest begins with is the last entry that is not behind it, or begins that one.
        let mut behind = first + self.entries[first..to].partition_point(|entry| entry.key < key);
        if self.entries[behind..to].first().is_some_and(|entry| entry.key == key) {
            behind += self.entries[behind..to].partition_point(|entry| entry.key == key && text_of(entry) <= rest);
        }
        let mut next = behind.checked_sub(1);
        while let Some(entry) = next.map(|at| &self.entries[at]) {
            if (entry.key ^ key) & entry.mask == 0 {
                let part = text_of(entry);
                if rest.starts_with(part) {
                    push(part.len(), entry.phrases.clone());
                }
            }
            next = entry.shorter.map(|at| at as usize);
        }
    }
}
