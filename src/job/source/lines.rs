//! The text, line by line, and places in it.

use std::cell::OnceCell;

use memchr::memchr2_iter;

/// A place in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceSpan {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The byte at which it starts, in the text without a byte-order mark.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// A job file's text, split where YAML 1.2 splits it: at LF, CR LF and CR.
pub struct SourceLines<'a> {
    text: &'a str,
    /// Found when the first place is asked for: most texts are read without a problem.
    starts: OnceCell<Vec<usize>>,
}

impl<'a> SourceLines<'a> {
    /// Splits the text; a byte-order mark at its start is left out.
    pub fn new(text: &'a str) -> SourceLines<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        SourceLines { text, starts: OnceCell::new() }
    }

    /// The first byte of each line.
    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let ends_line = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
            let after_breaks = memchr2_iter(b'\n', b'\r', bytes).filter(ends_line).map(|at| at + 1);
            std::iter::once(0).chain(after_breaks).collect()
        })
    }

    /// All of it, without a byte-order mark.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The line's text without its break; empty for a line that is not there. Lines count from 1.
    pub fn line(&self, line: usize) -> &'a str {
        let Some(&start) = line.checked_sub(1).and_then(|index| self.starts().get(index)) else { return "" };
        let end = self.starts().get(line).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The byte at which a line starts; past the last line, the end.
    pub fn start_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|index| self.starts().get(index)).copied().unwrap_or(self.text.len())
    }

    /// The text of a span.
    pub fn written(&self, span: SourceSpan) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or("")
    }

    /// The place of the byte; past the end, the end.
    pub fn at(&self, byte: usize) -> SourceSpan {
        let start = (0..=byte.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let line = self.starts().partition_point(|&line_start| line_start <= start);
        let column = self.text[self.starts()[line - 1]..start].chars().count() + 1;
        SourceSpan { line, column, start, end: start }
    }

    /// The line of a byte, from 1; past the end, the last one.
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts().partition_point(|&line_start| line_start <= byte)
    }

    /// How many characters a caret under the place must cover: what is written there on its first line, at least one.
    pub fn width(&self, span: SourceSpan) -> usize {
        let first_line = self.written(span).split(['\n', '\r']).next().unwrap_or("");
        first_line.trim_end().chars().count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_yaml_ends_them() {
        let lines = SourceLines::new("\u{feff}a\nb\r\nc\rd");
        let all: Vec<&str> = (0..=5).map(|line| lines.line(line)).collect();
        assert_eq!(all, ["", "a", "b", "c", "d", ""]);
    }

    #[test]
    fn a_byte_has_its_line_and_character() {
        let lines = SourceLines::new("ä: ü\nbc");
        let places: Vec<(usize, usize)> =
            [0, 1, 2, 4, 6, 7, 99].iter().map(|&at| (lines.at(at).line, lines.at(at).column)).collect();
        assert_eq!(places, [(1, 1), (1, 1), (1, 2), (1, 4), (1, 5), (2, 1), (2, 3)]);
    }
}
