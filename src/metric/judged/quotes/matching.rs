//! Whether a quote stands in a text: both are folded, and compared by whole words.

use crate::text::{self, is_blank, is_of_word, is_unspaced};

/// The fewest letters and digits, or else words, of each part of a quote that leaves something out: with less, any sentence could
/// be put together from any text.
const LEAST_OF_PART: usize = 8;
const LEAST_WORDS_OF_PART: usize = 2;
/// The fewest letters of a quote of one word.
const LEAST_LETTERS: usize = 4;
/// From so many letters and digits on a quote is long.
const LONG: usize = 20;
/// How many letters a character counts for in scripts without spaces.
const UNSPACED: usize = 3;

/// The replacement of a redacted key, in what the judge was shown and in what is stored.
const CLEARED: &str = "***";
/// Stands for it in a quote.
pub(super) const GAP: char = '\u{1}';

/// Whether a quote stands in a text that is not folded yet.
pub(in crate::metric) fn is_quoted_from(quote: &str, text: &str) -> bool {
    stands_in(quote, &folded(&text.replace(GAP, "")))
}

/// Whether a quote stands in a folded text; with dots for what is left out, its parts do, one after the other.
pub(super) fn stands_in(quote: &str, text: &str) -> bool {
    let quote = folded(&quote.replace(GAP, "").replace(CLEARED, &GAP.to_string()));
    if quote == *text {
        return !quote.is_empty();
    }
    let of_word = |c: &char| is_of_word(*c);
    let weight =
        |text: &str| -> usize { text.chars().filter(of_word).map(|c| if is_unspaced(c) { UNSPACED } else { 1 }).sum() };
    let is_enough = |part: &str| {
        weight(part) >= LEAST_OF_PART
            || part.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).count() >= LEAST_WORDS_OF_PART
    };
    // Dots leave out a part that the judge chose; a redacted key stands in its own place.
    let parts: Vec<&str> = quote.split("...").map(trimmed).filter(|part| weight(part) > 0).collect();
    if weight(&quote) == 0 || (parts.len() > 1 && !parts.iter().all(|part| is_enough(part))) {
        return false;
    }
    let mut pieces = parts.iter().flat_map(|part| part.split(GAP)).map(trimmed).filter(|piece| weight(piece) > 0);
    let mut from = 0;
    pieces.all(|piece| match find_words(&text[from..], piece) {
        Some(at) => {
            from += at + piece.len();
            true
        }
        None => false,
    })
}

/// Whether a folded text has two words, a word of four letters, or a number: less stands anywhere.
pub(super) fn says_enough(text: &str) -> bool {
    let letters: usize =
        text.chars().filter(|c| is_of_word(*c)).map(|c| if is_unspaced(c) { UNSPACED } else { 1 }).sum();
    let words = text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).count();
    letters >= LEAST_LETTERS || words >= LEAST_WORDS_OF_PART || text.chars().any(char::is_numeric) || text.contains(GAP)
}

pub(super) fn trimmed(part: &str) -> &str {
    part.trim_matches([' ', '"', '\''])
}

/// Where a text stands in another one and begins and ends no word in its middle.
fn find_words(text: &str, part: &str) -> Option<usize> {
    let joins = |a: Option<char>, b: Option<char>| {
        a.zip(b).is_some_and(|(a, b)| [a, b].iter().all(|c| is_of_word(*c) && !is_unspaced(*c)))
    };
    // A long quote may be clipped in its last word.
    let may_be_clipped = part.chars().filter(|c| is_of_word(*c)).count() >= LONG;
    let is_whole = |at: &usize| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + part.len()..].chars().next());
        !joins(before, part.chars().next()) && (may_be_clipped || !joins(part.chars().next_back(), after))
    };
    text.match_indices(part).map(|(at, _)| at).find(is_whole)
}

/// The character references that a judge may copy, or read.
const REFERENCES: [(&str, &str); 9] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// The text with the signs that character references stand for.
pub(in crate::metric::judged) fn resolved(mut text: String) -> String {
    // A reference in the conversation is escaped again in the prompt, and a judge may copy either.
    for _ in 0..3 {
        match resolved_once(&text) {
            Some(other) => text = other,
            None => break,
        }
    }
    text
}

/// The text with a sign for each character reference; `None` where it has none.
fn resolved_once(text: &str) -> Option<String> {
    let reference = |at: usize| REFERENCES.iter().find(|(reference, _)| text[at..].starts_with(reference));
    let mut resolved = String::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if let Some((reference, sign)) = reference(at) {
            resolved.extend([&text[done..at], sign]);
            done = at + reference.len();
        }
    }
    (done > 0).then(|| resolved + &text[done..])
}

/// Folds a text for comparison: without case, in one form of its characters, with plain quotation marks and dots, one space between
/// words, without invisible characters and marks of emphasis, and with the signs that character references stand for.
pub(super) fn folded(text: &str) -> String {
    let text = resolved(text::folded(text));
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '“' | '”' | '„' | '«' | '»' => folded.push('"'),
            '‘' | '’' | '‚' => folded.push('\''),
            '–' | '—' | '‐' | '‑' => folded.push('-'),
            '*' | '_' | '`' | '~' => {}
            GAP => folded.push(c),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            c if is_blank(c.encode_utf8(&mut [0; 4])) => {}
            c => folded.push(c),
        }
    }
    folded.trim().to_owned()
}
