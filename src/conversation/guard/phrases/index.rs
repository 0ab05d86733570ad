//! Where the first parts of phrases stand in a text: those that may begin at a place are neighbours in the order of the alphabet.

use std::ops::Range;

use super::{first_bytes, goes_on};

/// The different first parts, sorted.
pub(super) struct PhraseIndex {
    entries: Vec<FirstPart>,
    /// The first bytes of each entry.
    keys: Vec<u64>,
    /// Where the entries with each first byte begin, and where the last ones end.
    by_byte: [u32; 257],
}

/// The phrases of one first part.
struct FirstPart {
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
                    entries.push(FirstPart { phrases: at..at + 1, shorter: shorter.map(|it| it as u32) });
                    texts.push(part);
                }
            }
        }
        let mut by_byte = [texts.len() as u32; 257];
        for (at, text) in texts.iter().enumerate().rev() {
            by_byte[usize::from(text.as_bytes()[0])] = at as u32;
        }
        for byte in (0..256).rev() {
            by_byte[byte] = by_byte[byte].min(by_byte[byte + 1]);
        }
        PhraseIndex { entries, keys: texts.iter().map(|text| first_bytes(text)).collect(), by_byte }
    }

    /// All places, by their ends, and from the longest on where several end in one. `text` is the first part of a phrase.
    pub(super) fn find<'p>(&self, plain: &str, text: impl Fn(usize) -> &'p str) -> Vec<FoundPart> {
        let mut all = Vec::new();
        let mut before: Option<char> = None;
        let mut before_that: Option<char> = None;
        for (start, c) in plain.char_indices() {
            // By far the most places end here: within a word.
            if !goes_on(before_that, before, c) {
                self.find_at(&plain[start..], &text, |end, phrases| {
                    all.push(FoundPart { start, end: start + end, phrases });
                });
            }
            (before_that, before) = (before, Some(c));
        }
        all.sort_by_key(|found| (found.end, found.start));
        all
    }

    /// The entries with which a text begins.
    fn find_at<'p>(&self, rest: &str, text: impl Fn(usize) -> &'p str, mut push: impl FnMut(usize, Range<usize>)) {
        let byte = usize::from(rest.as_bytes()[0]);
        let (from, to) = (self.by_byte[byte] as usize, self.by_byte[byte + 1] as usize);
        let text_of = |entry: &FirstPart| text(entry.phrases.start);
        // All that the rest begins with is the last entry that is not behind it, or begins that one.
        let key = first_bytes(rest);
        let from = from + self.keys[from..to].partition_point(|other| *other < key);
        let same = self.keys[from..to].partition_point(|other| *other == key);
        let behind = from + self.entries[from..from + same].partition_point(|entry| text_of(entry) <= rest);
        let mut next = (behind > self.by_byte[byte] as usize).then(|| behind - 1);
        while let Some(entry) = next.map(|at| &self.entries[at]) {
            let part = text_of(entry);
            if rest.starts_with(part) {
                push(part.len(), entry.phrases.clone());
            }
            next = entry.shorter.map(|at| at as usize);
        }
    }
}
