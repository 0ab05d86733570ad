//! The ways in which a text can be read: what hides itself or looks like another character, and tables, change nothing.

use std::borrow::Cow;

use super::super::quotes::resolved;
use crate::text::{in_one_form, without_hidden};

/// A text as it is read: without what hides itself, and then also with one form of each character, where that is another text. Not the
/// latter alone, because a full-width quotation mark would end a text of JSON there.
pub(super) fn readings(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let plain = without_hidden(text);
    let normal = (!plain.is_ascii()).then(|| like_latin(in_one_form(&plain).into_owned()));
    let normal = normal.filter(|normal| *normal != plain);
    // As an agent sends it that escapes for a page, or puts JSON into a text.
    let is_escaped = plain.contains("&") || plain.contains("\\\"");
    let resolved = is_escaped.then(|| resolved(plain.to_string()).replace("\\\"", "\"")).filter(|text| *text != plain);
    [plain].into_iter().chain(normal.map(Cow::Owned)).chain(resolved.map(Cow::Owned))
}

/// A key or a word in one form, without what hides itself.
pub(super) fn plain(text: &str) -> String {
    like_latin(without_hidden(&in_one_form(&without_hidden(text))).into_owned())
}

/// Letters of Cyrillic and Greek that look like Latin ones, and those; a small one stands for its capital: after Unicode's list of confusables (UTS #39).
const LOOKALIKES: [(char, char); 29] = [
    ('а', 'a'),
    ('ѕ', 's'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ӏ', 'l'),
    ('п', 'n'),
    ('о', 'o'),
    ('р', 'p'),
    ('г', 'r'),
    ('т', 't'),
    ('х', 'x'),
    ('у', 'y'),
    // Of these the capitals alone look alike.
    ('В', 'b'),
    ('Н', 'h'),
    ('К', 'k'),
    ('М', 'm'),
    ('Β', 'b'),
    ('Ε', 'e'),
    ('Η', 'h'),
    ('α', 'a'),
    ('ι', 'i'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
];

/// The text with Latin letters for those that look like them, in words that have Latin ones too.
fn like_latin(text: String) -> String {
    if text.is_ascii() {
        return text;
    }
    let known = |c: char| LOOKALIKES.iter().find(|(like, _)| *like == c).map(|(_, latin)| *latin);
    let latin = |c: char| known(c).or_else(|| known(c.to_lowercase().next()?)).unwrap_or(c);
    let word = |word: &str| -> String {
        let is_mixed = word.contains(|c: char| c.is_ascii_alphabetic());
        // A word of such letters alone may be one of its own language.
        if is_mixed { word.chars().map(latin).collect() } else { word.to_owned() }
    };
    text.split_inclusive(|c: char| !c.is_alphanumeric()).map(word).collect()
}

/// The longest head of a column that is read, in bytes.
const LONGEST_HEAD: usize = 60;

/// The rows of the text's tables with `|` between cells, each cell as a line behind its column's head, and a row of two cells as one
/// line; `None` where there is no table.
pub(super) fn tables_as_lines(text: &str) -> Option<String> {
    let is_rule = |cell: &String| !cell.is_empty() && cell.chars().all(|c| "-:= ─━┼".contains(c));
    // A longer head names no part of a verdict, and would be written once a row.
    let is_name = |head: &str| head.len() <= LONGEST_HEAD;
    let mut lines = String::new();
    let mut head: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.replace(['│', '┃', '║', '├', '┤', '┼'], "|");
        let cells: Vec<String> = match line.contains('|') {
            true => line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect(),
            false => Vec::new(),
        };
        if let [key, value] = cells.as_slice() {
            lines.extend([key, ": ", value, "\n"].into_iter().filter(|_| is_name(key)));
        }
        match cells.len() {
            0 | 1 => head.clear(),
            _ if cells.iter().all(is_rule) => {}
            _ if head.is_empty() => head = cells,
            _ => head.iter().zip(&cells).filter(|(head, _)| is_name(head)).for_each(|(head, cell)| {
                lines.extend([head, ": ", cell, "\n"]);
            }),
        }
    }
    (!lines.is_empty()).then_some(lines)
}
