//! All secrets, looked for at once.
//!
//! Nearly every text that is searched holds none, and the journal asks for each of its entries. To know that takes three
//! looks near memory speed: for what begins a secret, several at once, for the same in folded bytes, and for what begins an escape.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};
use memchr::memmem;

use super::decoding::{Decoded, may_be_encoded, without_half_escape};
use super::disguise::undisguised;
use super::folding::{folded, origins};
use super::spelling::{MAX_ESCAPE_LAYERS, Spellings};

/// How much of a secret is recognised where a text was cut off within it, `…`; and of its folded form.
const LEAST_OF_A_CUT: usize = 6;
const LEAST_OF_A_FOLDED_CUT: usize = 8;

/// A text full of these marks was not cut off so often.
const MOST_CUTS: usize = 5000;

/// The folded form of a secret that was cut off stands in so many bytes.
const BEFORE_A_CUT: usize = 4096;

/// Patterns per Aho-Corasick automaton: up to this many are searched at memory speed. For more, several searches are
/// quicker than one, up to a point.
const PATTERNS_PER_SEARCH: usize = 64;
const MOST_IN_PARTS: usize = 8 * PATTERNS_PER_SEARCH;

/// Texts that are looked for together: those that stand for a secret alone, then parts of Base64 texts.
struct Patterns {
    /// Tell quickly whether there is any: this kind of search skips what can't begin one.
    any: Vec<AhoCorasick>,
    /// Finds them all, also those within others.
    all: AhoCorasick,
    /// How many of them stand for a secret alone.
    exact: usize,
    /// In their order, to find one by its beginning.
    sorted: Vec<Vec<u8>>,
}

impl Patterns {
    fn new(exact: Vec<Vec<u8>>, within_base64: Vec<Vec<u8>>) -> Result<Patterns, BuildError> {
        let count = exact.len();
        let patterns = [exact, within_base64].concat();
        // What can't begin a pattern is skipped in any kind; this one is built four times as fast as those that `auto` takes.
        let automaton =
            |kind| AhoCorasick::builder().match_kind(kind).kind(Some(AhoCorasickKind::NoncontiguousNFA)).clone();
        let at_once = if patterns.len() <= MOST_IN_PARTS { PATTERNS_PER_SEARCH } else { patterns.len() };
        let quick = automaton(MatchKind::LeftmostFirst);
        let any = patterns.chunks(at_once).map(|some| quick.build(some)).collect::<Result<_, _>>()?;
        let all = automaton(MatchKind::Standard);
        let all = all.build(&patterns)?;
        let mut sorted = patterns;
        sorted.sort_unstable();
        Ok(Patterns { any, all, exact: count, sorted })
    }

    /// How many of the last bytes are the beginning of one: `least` at least.
    fn begun(&self, bytes: &[u8], least: usize) -> Option<usize> {
        let longest = self.sorted.iter().map(Vec::len).max().unwrap_or(0);
        (least..=longest.min(bytes.len())).rev().find(|length| {
            let end = &bytes[bytes.len() - length..];
            let next = self.sorted.partition_point(|pattern| pattern.as_slice() < end);
            self.sorted.get(next).is_some_and(|pattern| pattern.starts_with(end))
        })
    }

    /// Where they stand, and whether each stands for a secret alone.
    fn found(&self, bytes: &[u8]) -> Vec<(Range<usize>, bool)> {
        if !self.any.iter().any(|some| some.is_match(bytes)) {
            return Vec::new();
        }
        let found = self.all.find_overlapping_iter(bytes);
        found.map(|found| (found.range(), found.pattern().as_usize() < self.exact)).collect()
    }
}

/// All spellings of all secrets.
pub(super) struct Matcher {
    patterns: Patterns,
    /// The patterns in folded bytes.
    folded: Patterns,
    /// The secrets as they are, for texts that were cut off.
    secrets: Vec<String>,
    /// Whether one holds what JSON always escapes.
    usual_escapes_matter: bool,
}

impl Matcher {
    /// `None` where the automaton can't be built: with patterns of these sizes that does not happen.
    pub(super) fn new(secrets: &BTreeSet<String>) -> Option<Matcher> {
        let mut all = Spellings::default();
        let mut folded = Vec::new();
        for secret in secrets {
            let spellings = Spellings::new(secret);
            all.exact.extend(spellings.exact);
            all.within_base64.extend(spellings.within_base64);
            folded.extend(spellings.folded);
            all.folded_base64.extend(spellings.folded_base64);
        }
        let is_escaped = |secret: &String| secret.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        Some(Matcher {
            patterns: Patterns::new(all.exact, all.within_base64).ok()?,
            folded: Patterns::new(folded, all.folded_base64).ok()?,
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
        if self.may_be_encoded(text.as_bytes()) {
            spans.extend(self.encoded(text.as_bytes()));
        }
        spans.retain(|span| text.get(span.clone()).is_some());
        spans
    }

    /// Where they stand in whatever can be read without a decoder.
    fn found(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut spans = self.written(bytes);
        if let Some(layer) = undisguised(bytes) {
            spans.extend(self.written(&layer.bytes).into_iter().map(|span| layer.origin(span)));
        }
        spans
    }

    /// Where they stand as they are, in hex digits or Base64, in other case, with something between, or cut off.
    fn written(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let whole = |(found, is_exact)| if is_exact { found } else { widened(bytes, found) };
        let mut spans: Vec<Range<usize>> = self.patterns.found(bytes).into_iter().map(whole).collect();
        let (disguised, are_exact): (Vec<_>, Vec<_>) = self.folded.found(&folded(bytes)).into_iter().unzip();
        if !disguised.is_empty() {
            spans.extend(origins(bytes, disguised).into_iter().zip(are_exact).map(whole));
        }
        let cuts = memmem::find_iter(bytes, "…").take(MOST_CUTS);
        spans.extend(cuts.filter_map(|cut| Some(cut - self.begun_at_end(&bytes[..cut])?..cut)));
        spans
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
        while layers.len() < MAX_ESCAPE_LAYERS
            && let bytes = layers.last().map_or(bytes, |layer| &layer.bytes)
            && self.may_be_encoded(bytes)
        {
            let was_json = std::mem::replace(&mut is_json, false);
            let layer = if was_json { Decoded::decode_json(bytes) } else { Decoded::decode(bytes) };
            let Some(layer) = layer else { if was_json { continue } else { break } };
            let found = self.found(&layer.bytes);
            layers.push(layer);
            let origin = |span| layers.iter().rev().fold(span, |span, layer| layer.origin(span));
            spans.extend(found.into_iter().map(origin));
        }
        spans
    }

    /// How many of the last bytes are the beginning of a secret, however it is written: where they are cut off, its rest is
    /// missing.
    pub(super) fn begun_at_end(&self, bytes: &[u8]) -> Option<usize> {
        let begun = |bytes: &[u8]| {
            let near = &bytes[bytes.len().saturating_sub(BEFORE_A_CUT)..];
            let folded = folded(near);
            let disguised = self.folded.begun(&folded, LEAST_OF_A_FOLDED_CUT).and_then(|length| {
                let place = origins(near, std::iter::once(folded.len() - length..folded.len())).pop()?;
                Some(near.len() - place.start)
            });
            disguised.max(self.patterns.begun(bytes, LEAST_OF_A_CUT))
        };
        let whole = without_half_escape(bytes);
        let half = bytes.len() - whole.len();
        begun(bytes).max((half > 0).then(|| begun(whole)).flatten().map(|length| length + half))
    }
}

/// The whole Base64 text in which a part was found.
fn widened(bytes: &[u8], part: Range<usize>) -> Range<usize> {
    let belongs = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=' | b'-' | b'_');
    let before = bytes[..part.start].iter().rev().take_while(|c| belongs(c)).count();
    let after = bytes[part.end..].iter().take_while(|c| belongs(c)).count();
    part.start - before..part.end + after
}
