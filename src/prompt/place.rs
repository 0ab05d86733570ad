//! A place in a template, for error messages.

use std::ops::Range;

use minijinja::Error;

/// A place in a template's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPlace {
    /// The file, as it is named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The number of characters to underline, at least 1.
    pub width: usize,
    /// The line, without its break.
    pub source_line: String,
}

impl PromptPlace {
    /// The place of these bytes of a template.
    pub(super) fn new(file: &str, text: &str, bytes: Range<usize>) -> PromptPlace {
        let start = (0..=bytes.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let before = &text[line_start..start];
        let end = (start..=bytes.end.min(line_start + line.len())).rev().find(|at| text.is_char_boundary(*at));
        let width = end.map(|end| text[start..end].chars().count()).unwrap_or_default();
        PromptPlace {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: before.chars().count() + 1,
            width: width.max(1),
            source_line: line.to_owned(),
        }
    }

    /// The place of an error, as far as it is known.
    pub(super) fn from_error(file: &str, text: &str, error: &Error) -> PromptPlace {
        let line_start = |line: usize| text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let line = error.line().unwrap_or(1);
        let at_line = || {
            let start = line_start(line);
            let blank = text[start..].len() - text[start..].trim_start_matches([' ', '\t']).len();
            start + blank..start + blank
        };
        let place = PromptPlace::new(file, text, error.range().unwrap_or_else(at_line));
        // The line is always known, the characters in it are not.
        if place.line == line { place } else { PromptPlace::new(file, text, at_line()) }
    }
}

/// The first use of this variable in a template.
pub(super) fn first_use(text: &str, variable: &str) -> Option<Range<usize>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(variable).map(|(start, _)| start..start + variable.len()).find(|found| {
        let (before, after) = (&text[..found.start], &text[found.end..]);
        let opened = before.rfind("{{").max(before.rfind("{%"));
        let closed = before.rfind("}}").max(before.rfind("%}"));
        let stands_alone = !before.ends_with(|last| is_word(last) || matches!(last, '.' | '"' | '\''));
        opened.is_some() && opened > closed && stands_alone && !after.starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_characters() {
        let place = |bytes| {
            let place = PromptPlace::new("f", "ä\r\n  äö{{ x }}\n", bytes);
            (place.line, place.column, place.width, place.source_line)
        };
        assert_eq!(place(13..14), (2, 8, 1, "  äö{{ x }}".to_owned()));
        assert_eq!(place(10..999), (2, 5, 7, "  äö{{ x }}".to_owned()));
        assert_eq!(place(999..1000), (3, 1, 1, String::new()));
        assert_eq!(place(0..0), (1, 1, 1, "ä".to_owned()));
        assert_eq!(PromptPlace::new("f", "", 0..0).line, 1);
    }

    #[test]
    fn the_first_use_is_none_in_words_or_other_names() {
        let text = "name {{ a.name }} {{ 'name' }} {{ names }} {% if name %}";
        assert_eq!(first_use(text, "name"), Some(49..53));
        assert_eq!(first_use(text, "nobody"), None);
    }
}
