//! All secrets, looked for at once.
//!
//! Nearly every text that is searched holds none, and the journal asks for each of its entries. To know that takes two
//! looks at memory speed: for what begins a secret, several at once, and for what begins an escape.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::decoding::{Decoded, may_be_encoded};
use super::spelling::{MOST_LAYERS, Spellings};

/// How much of a secret is recognised where a text was cut off within it, `…`.
const LEAST_OF_A_CUT: usize = 6;

/// That many patterns are looked for at memory speed; several looks are quicker than one for more, up to a point.
const AT_ONCE: usize = 64;
const MOST_IN_PARTS: usize = 8 * AT_ONCE;

/// All spellings of all secrets.
pub(super) struct Matcher {
    /// Tell quickly whether there is any: this kind of search skips what can't begin one.
    any: Vec<AhoCorasick>,
    /// Finds them all, also those within others.
    all: AhoCorasick,
    /// How many of the patterns stand for a secret alone; those after them are parts of Base64 texts.
    exact: usize,
    /// The secrets as they are, for texts that were cut off.
    secrets: Vec<String>,
    /// Whether one holds what JSON always escapes.
    usual_escapes_matter: bool,
}

impl Matcher {
    /// `None` where the automaton can't be built: with patterns of these sizes that does not happen.
    pub(super) fn of(secrets: &BTreeSet<String>) -> Option<Matcher> {
        let (mut patterns, mut within) = (Vec::new(), Vec::new());
        for secret in secrets {
            let spellings = Spellings::of(secret);
            patterns.extend(spellings.exact);
            within.extend(spellings.within_base64);
        }
        let exact = patterns.len();
        patterns.extend(within);
        let quick = |some: &[Vec<u8>]| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(some);
        let at_once = if patterns.len() <= MOST_IN_PARTS { AT_ONCE } else { patterns.len() };
        let all =
            AhoCorasick::builder().match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::ContiguousNFA)).clone();
        let is_escaped = |secret: &String| secret.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        Some(Matcher {
            any: patterns.chunks(at_once).map(quick).collect::<Result<_, _>>().ok()?,
            all: all.build(&patterns).ok()?,
            exact,
            secrets: secrets.iter().cloned().collect(),
            usual_escapes_matter: secrets.iter().any(is_escaped),
        })
    }

    /// The secrets as they are.
    pub(super) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Where secrets stand in a text.
    pub(super) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = self.found(text.as_bytes());
        spans.extend(self.cut_off(text));
        if self.may_be_encoded(text.as_bytes()) {
            spans.extend(self.encoded(text.as_bytes()));
        }
        spans.retain(|span| text.get(span.clone()).is_some());
        spans
    }

    /// Where they stand as they are, or in hex digits or Base64.
    fn found(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        if !self.any.iter().any(|some| some.is_match(bytes)) {
            return Vec::new();
        }
        let found = self.all.find_overlapping_iter(bytes).map(|found| {
            let is_exact = found.pattern().as_usize() < self.exact;
            if is_exact { found.range() } else { widened(bytes, found.range()) }
        });
        found.collect()
    }

    fn may_be_encoded(&self, bytes: &[u8]) -> bool {
        may_be_encoded(bytes, self.usual_escapes_matter)
    }

    /// Where they stand in escapes, and in escapes of escapes. Those of JSON are decoded alone first: whatever is searched
    /// may be a line of JSON, in whose texts a secret that follows on a `%` must not lose its first letters.
    fn encoded(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut layers: Vec<Decoded> = Vec::new();
        let mut is_json = true;
        while layers.len() < MOST_LAYERS
            && let bytes = layers.last().map_or(bytes, |layer| &layer.bytes)
            && self.may_be_encoded(bytes)
        {
            let was_json = std::mem::replace(&mut is_json, false);
            let layer = if was_json { Decoded::of_json(bytes) } else { Decoded::of(bytes) };
            let Some(layer) = layer else { if was_json { continue } else { break } };
            let found = self.found(&layer.bytes);
            layers.push(layer);
            let origin = |span| layers.iter().rev().fold(span, |span, layer| layer.origin(span));
            spans.extend(found.into_iter().map(origin));
        }
        spans
    }

    /// The beginnings of secrets at which a text was cut off.
    fn cut_off(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for (cut, _) in text.match_indices('…') {
            let before = &text[..cut];
            let begun = |secret: &String| {
                let lengths = secret.char_indices().map(|(at, _)| at).filter(|at| *at >= LEAST_OF_A_CUT);
                lengths.rev().find(|length| before.ends_with(&secret[..*length]))
            };
            spans.extend(self.secrets.iter().filter_map(begun).max().map(|begun| cut - begun..cut));
        }
        spans
    }
}

/// The whole Base64 text in which a part was found.
fn widened(bytes: &[u8], part: Range<usize>) -> Range<usize> {
    let belongs = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=' | b'-' | b'_');
    let before = bytes[..part.start].iter().rev().take_while(|c| belongs(c)).count();
    let after = bytes[part.end..].iter().take_while(|c| belongs(c)).count();
    part.start - before..part.end + after
}
