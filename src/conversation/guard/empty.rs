//! A turn that says nothing.

use super::scene::Scene;
use super::{Fault, fault};
use crate::text::visible;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.input.turn;
    if !scene.turn.is_empty {
        return None;
    }
    fault("it says nothing; write what the user says", visible(turn))
}

/// Placeholders that models write instead of an empty message.
const PLACEHOLDERS: [&str; 10] =
    ["n/a", "null", "undefined", "empty", "empty message", "no message", "no response", "silence", "blank", "nil"];

/// Whether an opening message is a placeholder. Later, "n/a" may answer a question.
pub(super) fn is_placeholder(turn: &str) -> bool {
    let text = turn.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    PLACEHOLDERS.contains(&text.as_str())
}

/// Whether a text is made of punctuation and of what shows nothing. A sign such as an emoji says something.
pub(super) fn is_empty(turn: &str) -> bool {
    let text = turn.replace("&nbsp;", " ").replace("&#8203;", "").replace("<br>", "").replace("<br/>", "");
    let says = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '\u{203c}' | '\u{2049}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1ffff}' | '+' | '=')
    };
    !text.chars().any(|c| {
        says(c)
            && !matches!(c, '\u{2500}'..='\u{25ff}' | '\u{2800}' | '\u{3164}' | '\u{115f}' | '\u{1160}' | '\u{ffa0}')
    })
}
