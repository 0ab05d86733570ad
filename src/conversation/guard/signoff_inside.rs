//! The sign-off phrase within a message that goes on.

use super::phrases::List;
use super::scene::Scene;
use super::text_view::TextView;
use super::words::Script;
use super::{Fault, fault};
use crate::conversation::signoff::found;
use crate::text::is_of_word;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let (turn, signoff) = (scene.input.turn, scene.input.signoff);
    let (start, end) = place(turn, signoff)?;
    let (before, after) = (&turn[..start], &turn[end..]);
    let why = "the sign-off phrase stands within a message that goes on; end the conversation with it, or leave it out";
    if after.chars().any(is_of_word) {
        let rest = TextView::new(after);
        let is_repeated = place(after, signoff).is_some();
        let is_closing = rest.outside(&[List::Goodbye, List::Polite]).0 <= 6;
        return if is_closing && !is_repeated { None } else { fault(why, turn[start..].trim()) };
    }
    let before = TextView::new(before);
    let asks_last =
        before.raw.trim_end().trim_end_matches(['"', '\'', '*', '(', '“', '„']).trim_end().ends_with(['?', '？', '؟']);
    if asks_last || before.has(List::Opener) && before.asks() {
        return fault(why, turn.trim());
    }
    None
}

/// Where the sign-off phrase stands in a text: a phrase of one word only as it is written, and by itself.
pub(super) fn place(text: &str, signoff: &str) -> Option<(usize, usize)> {
    let signoff = signoff.trim();
    let mut from = 0;
    while let Some((start, end)) = found(&text[from..], signoff) {
        let (start, end) = (from + start, from + end);
        let is_one_word = signoff.chars().all(is_of_word);
        let is_syllable = signoff.chars().count() <= 2;
        let is_spaced = |c: Option<char>| {
            c.is_some_and(|c| {
                is_of_word(c)
                    && !matches!(
                        Script::from_char(c),
                        Script::Han | Script::Thai | Script::Hiragana | Script::Katakana | Script::Hangul
                    )
                    || is_syllable && is_of_word(c) && Script::from_char(c) == Script::Hangul
            })
        };
        let is_within_word = signoff.starts_with(is_of_word) && is_spaced(text[..start].chars().next_back())
            || signoff.ends_with(is_of_word) && is_spaced(text[end..].chars().next());
        if !is_within_word && (!is_one_word || &text[start..end] == signoff) {
            return Some((start, end));
        }
        from = end;
    }
    None
}
