//! Items of a list in a YAML text, each after a dash on lines of its own.

use std::ops::Range;

use crate::job::YamlNode;

/// From the beginning of an item to the end of the last quotes or brackets in it: their lines may be indented by less than the item.
/// `from` is where the text begins that the node was read from.
pub(super) fn span(text: &str, from: usize, node: &YamlNode) -> Range<usize> {
    let start = from + node.span.start;
    let end = from + node.span.end;
    let is_closed = text.get(start..end).is_some_and(|written| {
        [('"', '"'), ('\'', '\''), ('{', '}'), ('[', ']')]
            .iter()
            .any(|pair| written.starts_with(pair.0) && written.ends_with(pair.1))
    });
    let keys = node.entries().iter().map(|entry| from + entry.key.span.end);
    let values = node.entries().iter().map(|entry| &entry.value).chain(node.items());
    let within = values.map(|value| span(text, from, value)).filter(|value| value.start >= start);
    let last = keys.chain(within.map(|value| value.end)).max().unwrap_or(start);
    start..if is_closed { end } else { last }
}

/// The bytes of each item, from the beginning of its first line to the end of its last, and how far the dashes are indented; `None`
/// where the list is not written so.
pub(super) fn items(text: &str, spans: &[Range<usize>]) -> Option<(Vec<Range<usize>>, usize)> {
    let dashes: Vec<(usize, usize)> = spans.iter().map(|span| dash_before(text, span.start)).collect::<Option<_>>()?;
    let indent = dashes.first()?.1;
    if dashes.iter().any(|dash| dash.1 != indent) || dashes.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return None;
    }
    let end = |(number, (line, _)): (usize, &(usize, usize))| {
        let limit = dashes.get(number + 1).map_or(text.len(), |next| next.0);
        *line..end_of(text, *line..limit, indent, spans[number].end)
    };
    Some((dashes.iter().enumerate().map(end).collect(), indent))
}

/// The line of the dash before a value, and how far the dash is indented.
fn dash_before(text: &str, start: usize) -> Option<(usize, usize)> {
    let before = text[..start].trim_end_matches(|letter: char| letter.is_whitespace());
    // A comment, an anchor or a tag may stand between.
    let mut end = before.len();
    loop {
        let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let written = &text[line..end];
        let dash = written.trim_start();
        if let Some(rest) = dash.strip_prefix('-')
            && (rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            return Some((line, written.len() - dash.len()));
        }
        if !(dash.is_empty() || dash.starts_with('#')) || line == 0 {
            return None;
        }
        end = line - 1;
    }
}

/// The end of the last line that belongs to the item of the first of these lines: it is empty or further in than its dash, and no
/// comment or empty line behind the rest. What stands before `certain` belongs to it however it is indented.
fn end_of(text: &str, lines: Range<usize>, indent: usize, certain: usize) -> usize {
    let (mut at, mut end) = (lines.start, lines.start);
    for written in text[lines].split_inclusive('\n') {
        let is_certain = at < certain;
        at += written.len();
        let content = written.trim_start();
        let is_further_in = written.len() - content.len() > indent;
        if !is_certain && !content.is_empty() && !is_further_in && !content.starts_with('#') {
            break;
        }
        if is_certain || !content.is_empty() && is_further_in {
            end = at;
        }
    }
    end
}

/// An item without its dash, and without what it is indented by.
pub(super) fn dedented(item: &str, indent: usize) -> String {
    let inner = item.get(indent + 1..).unwrap_or_default();
    let space = 1 + inner.len() - inner.trim_start_matches(' ').len();
    let width = indent + space;
    let line = |(number, line): (usize, &str)| match number {
        0 => line.get(width..).unwrap_or_default().to_owned(),
        _ => {
            let own = line.len() - line.trim_start_matches(' ').len();
            line[own.min(width)..].to_owned()
        }
    };
    item.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned() + "\n"
}

/// The text with another item behind the last one.
pub(super) fn with(text: &str, items: &[Range<usize>], indent: usize, item: &str) -> String {
    let at = items.last().map_or(text.len(), |last| last.end);
    let space = " ".repeat(indent);
    let line = |(number, line): (usize, &str)| match (number, line.is_empty()) {
        (0, _) => format!("{space}- {line}\n"),
        (_, true) => "\n".to_owned(),
        _ => format!("{space}  {line}\n"),
    };
    let item = item.trim_end();
    // An entry without a word is one too.
    let empty = item.is_empty().then_some("");
    let lines: String = item.lines().chain(empty).enumerate().map(line).collect();
    let lines = if text.contains("\r\n") { lines.replace('\n', "\r\n") } else { lines };
    let gap = if text[..at].ends_with('\n') || at == 0 { "" } else { "\n" };
    format!("{}{gap}{lines}{}", &text[..at], &text[at..])
}
