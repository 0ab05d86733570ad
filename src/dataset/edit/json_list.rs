//! Items of a list in a JSON text.

use std::ops::Range;

/// The text without an item, and without the comma that it had.
pub(super) fn without(text: &str, list: &Range<usize>, items: &[Range<usize>], place: usize) -> String {
    let Some(item) = items.get(place) else { return text.to_owned() };
    let cut = match (place.checked_sub(1).map(|before| &items[before]), items.get(place + 1)) {
        (_, Some(next)) => item.start..next.start,
        (Some(before), None) => before.end..item.end,
        (None, None) => {
            let behind = &text[item.end..list.end];
            let (before_comma, rest) = comma(behind).map_or((behind, ""), |at| (&behind[..at], &behind[at + 1..]));
            return format!("{}{before_comma}{rest}{}", &text[..item.start], &text[list.end..]);
        }
    };
    format!("{}{}", &text[..cut.start], &text[cut.end..])
}

/// Where the comma stands behind an item, after white space and comments.
fn comma(behind: &str) -> Option<usize> {
    let mut rest = behind;
    loop {
        rest = rest.trim_start();
        rest = if let Some(comment) = rest.strip_prefix("//").or_else(|| rest.strip_prefix('#')) {
            comment.split_once('\n')?.1
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")?.1
        } else {
            return rest.starts_with(',').then(|| behind.len() - rest.len());
        };
    }
}

/// The text with another item behind the last one, written like it: on lines of its own where the others are.
pub(super) fn with(text: &str, list: &Range<usize>, items: &[Range<usize>], item: &str) -> String {
    let breaks = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let item = &item.lines().collect::<Vec<_>>().join(breaks);
    let Some(last) = items.last() else {
        let inner = &text[list.start + 1..list.end - 1];
        if !inner.trim().is_empty() {
            // A comment may stand there.
            let at = list.end - 1;
            return format!("{}{}{breaks}{}", &text[..at], indented(item, ""), &text[at..]);
        }
        return format!("{}{item}{}", &text[..=list.start], &text[list.end - 1..]);
    };
    let separator = match items.len().checked_sub(2).map(|before| &items[before]) {
        Some(before) => space(&text[before.end..last.start]),
        None => space(&text[list.start + 1..last.start]),
    };
    let indent = separator.rsplit('\n').next().filter(|_| separator.contains('\n')).unwrap_or_default();
    let item = if separator.contains('\n') { indented(item, indent) } else { one_line(item) };
    format!("{},{separator}{item}{}", &text[..last.end], &text[last.end..])
}

/// The white space at the end of what stands between two items: the last line break with what follows it.
fn space(between: &str) -> String {
    let end = &between[between.trim_end().len()..];
    let end = end.rfind('\n').map_or(end, |at| &end[at..]);
    let is_new_line = between.contains("\r\n") && end.starts_with('\n');
    let end = if is_new_line { format!("\r{end}") } else { end.to_owned() };
    if end.is_empty() { " ".to_owned() } else { end }
}

fn indented(item: &str, indent: &str) -> String {
    item.trim().replace('\n', &format!("\n{indent}"))
}

/// JSON on one line; what is no JSON of today's (it has comments) stays as it is.
fn one_line(item: &str) -> String {
    serde_json::from_str::<serde_json::Value>(item).map_or_else(|_| item.trim().to_owned(), |value| value.to_string())
}

/// An item without what its line is indented by.
pub(super) fn dedented(text: &str, item: Range<usize>) -> String {
    let line = text[..item.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line..item.start];
    let indent = &before[..before.len() - before.trim_start().len()];
    let lines = text[item].split('\n').map(|line| line.strip_prefix(indent).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}
