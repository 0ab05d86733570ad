//! Text from elsewhere: which of its characters can't be shown as they are, whether its JSON contradicts itself, and what
//! words, stems and sentences it has. In comes untrusted text; out goes text that is safe to show, or can be compared.

mod contradiction;
mod dense;
mod digits;
mod file_name;
mod glob;
mod nearest;
mod position;
mod sentences;
mod stem;
mod table;
mod tokens;

use std::borrow::Cow;

pub use contradiction::contradiction;
pub use dense::DenseText;
pub use digits::{KEPT_DIGITS, significant_digits};
pub use file_name::{FileNames, file_name};
pub use glob::NamePattern;
pub use nearest::nearest;
pub use position::Position;
pub use sentences::{lines, sentences};
pub use stem::stem;
pub use table::{TableRow, table_rows};
pub use tokens::{
    Tokenizer, case_folded, folded, in_one_form, is_of_word, is_unspaced, lowered, tokens, with_ascii_digits,
    without_dots,
};

/// A text without the code fence around it, also one on a single line or without its end.
pub fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.strip_suffix("```").unwrap_or(inner);
    // The name of a language.
    let behind = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'));
    match behind.starts_with(['\n', '\r', ' ', '{', '[', '"']) {
        true => behind.trim(),
        false => inner.trim(),
    }
}

/// Whether a character could steer a terminal, turn the reading order round, break a line or hide itself: control
/// characters, Unicode's bidirectional controls, separators, zero-widths, fillers and tags.
fn is_unsafe(c: char) -> bool {
    // Of nearly every text, all characters.
    if matches!(c, ' '..='~') {
        return false;
    }
    c.is_control()
        || matches!(c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, Mongolian selectors and vowel separator.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}'
            // Hangul fillers and Khmer inherent vowels: letters that show nothing.
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}'
            // Zero-widths and marks, separators of lines and paragraphs, embeddings, joiners, isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            // Annotations, beams of music, and the tag block with what is reserved beside it.
            | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a byte is printable ASCII or a space, line break or tab: what every terminal and reader shows as it is.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Whether a text shows nothing: white space, zero-width and other invisible characters, the blank of Braille, or nothing at all.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unsafe(c) || matches!(c, '\u{2800}' | '\u{fe00}'..='\u{fe0f}'))
}

/// The text without the characters that hide themselves, variation selectors among them; line breaks and tabs stay.
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let hides =
        |c: char| is_unsafe(c) && !matches!(c, '\n' | '\r' | '\t') || matches!(c, '\u{2800}' | '\u{fe00}'..='\u{fe0f}');
    if text.chars().any(hides) { Cow::Owned(text.replace(hides, "")) } else { Cow::Borrowed(text) }
}

/// Each character of a text, and whether it must be spelled out.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.char_indices().map(|(at, c)| (c, is_unsafe(c) && !joins(text, at)))
}

/// Where the next character from a byte on is that must be spelled out.
pub fn next_unsafe(text: &str, from: usize) -> Option<usize> {
    text[from..]
        .char_indices()
        .map(|(at, c)| (from + at, c))
        .find(|(at, c)| is_unsafe(*c) && !joins(text, *at))
        .map(|(at, _)| at)
}

/// The text with each of those characters spelled out, line breaks and tabs too.
pub fn visible(text: &str) -> String {
    characters(text).fold(String::with_capacity(text.len()), |mut visible, (c, is_unsafe)| {
        if is_unsafe {
            visible.extend(c.escape_unicode())
        } else {
            visible.push(c)
        }
        visible
    })
}

/// A text of so many characters at most, with an ellipsis where it was longer.
pub fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether at a byte stands a zero-width joiner or non-joiner where its language needs it: between letters of a script whose
/// letters join, as Persian and Hindi have them, or a joiner between two signs of one emoji. Anywhere else it hides.
fn joins(text: &str, at: usize) -> bool {
    const NON_JOINER: char = '\u{200c}';
    const JOINER: char = '\u{200d}';
    let mut rest = text[at..].chars();
    let (Some(c @ (NON_JOINER | JOINER)), Some(before), Some(after)) =
        (rest.next(), text[..at].chars().next_back(), rest.next())
    else {
        return false;
    };
    is_of_joining_script(before) && is_of_joining_script(after)
        || c == JOINER && (is_pictogram(before) || before == '\u{fe0f}') && is_pictogram(after)
}

/// Letters and marks from Arabic to Samaritan, of India, Myanmar and Khmer, Mongolian, and the presentation forms of Arabic.
fn is_of_joining_script(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17dd}' | '\u{1820}'..='\u{18aa}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && !is_unsafe(c)
}

/// The blocks of which emoji are made, with the tones of skin.
fn is_pictogram(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_steers_is_spelled_out_and_words_of_all_languages_stay() {
        let hidden = "\u{1b}\u{9b}\u{7f}\r\n\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{180e}\u{200b}\u{200d}\u{2028}\u{2029}\u{202e}\u{2060}\
                      \u{2066}\u{206a}\u{3164}\u{feff}\u{ffa0}\u{e0001}\u{e0041}\u{e007f}";
        for c in hidden.chars() {
            assert_eq!(visible(&c.to_string()), c.escape_unicode().to_string(), "{:x}", u32::from(c));
        }
        for text in ["naïve café", "提醒", "한국어", "עברית", "ภาษาไทย", "ខ្មែរ", "❤\u{fe0f}", "e\u{301}"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn what_hides_is_taken_out_and_lines_stay() {
        for hidden in ['\u{200b}', '\u{ad}', '\u{2060}', '\u{200e}', '\u{e0061}', '\u{fe0f}', '\u{1b}', '\u{3164}'] {
            assert_eq!(without_hidden(&format!("re{hidden}ason:\n\tnaïve")), "reason:\n\tnaïve");
        }
    }

    #[test]
    fn what_shows_nothing_is_blank() {
        for blank in ["", " \n\t", " \n\u{200b} ", "\u{feff}", "\u{3164}\u{2060}", "\u{a0}\u{2800}", "\u{fe0f}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in ["a", " \u{200b}.", "👍", "한", "می\u{200c}خواهم", "\u{1b}[0m"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn joiners_stay_where_words_and_emoji_need_them_and_are_spelled_out_where_they_hide() {
        for text in ["می\u{200c}خواهم", "क्\u{200d}ष", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥", "🧑🏽\u{200d}💻"]
        {
            assert_eq!(visible(text), text);
            assert_eq!(next_unsafe(text, 0), None);
        }
        for (hidden, shown) in [
            ("pay\u{200d}pal", "pay\\u{200d}pal"),
            ("a\u{200c}", "a\\u{200c}"),
            ("\u{200d}👧", "\\u{200d}👧"),
            ("👩\u{200c}👧", "👩\\u{200c}👧"),
            ("م\u{200c}\u{200c}خ", "م\\u{200c}\\u{200c}خ"),
            ("م\u{202e}خ", "م\\u{202e}خ"),
        ] {
            assert_eq!(visible(hidden), shown);
        }
    }
}
