//! Short, harmless excerpts of untrusted text, for error messages.

use crate::secret::Secret;
use crate::text::characters;

/// The number of characters that are shown.
const SHOWN: usize = 120;

/// The start of an untrusted text, in quotes: secrets are redacted, control characters and direction marks escaped, so that a
/// reply can neither leak a key nor move a terminal's cursor.
pub fn excerpt(text: &str, secrets: &[Secret]) -> String {
    let text = secrets.iter().fold(text.trim().to_owned(), |text, secret| secret.redact(&text));
    let mut shown = String::from("\"");
    for (c, is_unsafe) in characters(&text).take(SHOWN) {
        if is_unsafe { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.push_str(if text.chars().nth(SHOWN).is_some() { "…\"" } else { "\"" });
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_shown_whole_and_a_long_one_is_cut() {
        assert_eq!(excerpt(" <html> ", &[]), "\"<html>\"");
        assert_eq!(excerpt(&"ä".repeat(121), &[]), format!("\"{}…\"", "ä".repeat(120)));
        assert_eq!(excerpt(&"ä".repeat(120), &[]), format!("\"{}\"", "ä".repeat(120)));
    }

    #[test]
    fn a_key_is_blotted_out_before_the_cut() {
        let key = Secret::new("sk-12345678");
        let shown = excerpt(&format!("{}sk-12345678", "x".repeat(115)), &[key]);
        assert_eq!(shown, format!("\"{}***\"", "x".repeat(115)));
    }

    #[test]
    fn what_moves_a_cursor_is_escaped() {
        assert_eq!(excerpt("a\u{1b}[2J\nb\u{202e}c", &[]), r#""a\u{1b}[2J\nb\u{202e}c""#);
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in ".{0,300}") {
            prop_assert!(!excerpt(&text, &[]).chars().any(char::is_control));
        }
    }
}
