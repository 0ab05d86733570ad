//! A turn that is longer than a user's message: the persona is to write one to three sentences.

use super::phrases::List;
use super::scene::Scene;
use super::words::Script;
use super::{Fault, fault};
use crate::text::sentences;

/// The most words; a message of a few long sentences stays below it.
const MOST_WORDS: usize = 140;
/// The most sentences, where they are not short.
const MOST_SENTENCES: usize = 10;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let text = scene.text();
    let characters = text.raw.chars().count();
    if characters < 100 {
        return None;
    }
    // Two characters of Chinese or Japanese, or five of Thai, are about a word.
    let (mut words, mut unspaced) = (0, 0);
    let mut in_word = false;
    for c in text.plain().chars() {
        match Script::from_char(c) {
            Script::Han | Script::Hiragana | Script::Katakana => unspaced += 5,
            Script::Thai => unspaced += 2,
            _ if c.is_whitespace() => in_word = false,
            _ if !in_word => {
                in_word = true;
                words += 1;
            }
            _ => {}
        }
    }
    let words = words + unspaced / 9;
    let is_asked_for = scene.last_agent().is_some_and(|agent| agent.has(List::Details) || wants_text(agent.plain()));
    let factor = if is_asked_for { 2 } else { 1 };
    let is_long = words > MOST_WORDS * factor
        || characters > 750 * factor
        || words > 100 * factor && sentences(&text.raw).len() > MOST_SENTENCES * factor;
    if !is_long {
        return None;
    }
    fault(
        format!("it has about {words} words; say one thing, in one to three sentences"),
        format!("{characters} characters"),
    )
}

/// Whether the agent asks for a text or for all of a story.
fn wants_text(plain: &str) -> bool {
    [
        "paste",
        "full text",
        "describe in detail",
        "in detail",
        "whole story",
        "everything that happened",
        "in your own words",
    ]
    .iter()
    .any(|part| plain.contains(part))
}
