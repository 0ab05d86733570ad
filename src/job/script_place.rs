//! From a place in a script to the place in the YAML that holds it.

use super::source::{SourceLines, SourceSpan, YamlNode};

/// Where in the file the script's character stands (line and column of the script, from 1), if that is known for
/// certain: in plain, quoted and literal block scalars it can, in folded ones mostly not.
pub(super) fn script_place(lines: &SourceLines<'_>, node: &YamlNode, line: usize, column: usize) -> Option<SourceSpan> {
    let script = node.text()?;
    let script_line = script.split('\n').nth(line.checked_sub(1)?)?;
    let before = column.checked_sub(1)?;
    if before > script_line.chars().count() {
        return None;
    }
    let written = lines.written(node.span);
    if written.starts_with(['"', '\'']) {
        let start_of_line: usize = script.split('\n').take(line - 1).map(|line| line.chars().count() + 1).sum();
        return Some(point(lines, node.span.start + quoted_byte(written, start_of_line + before)?));
    }
    if line == 1 && written.starts_with(script_line) {
        return Some(point(lines, node.span.start + byte_of(script_line, before)));
    }
    let source = lines.at(lines_start(lines, node.span.line + line - 1, node.span)?);
    let text = lines.line(source.line).trim_end();
    let indent = text.len().checked_sub(script_line.trim_end().len())?;
    (!script_line.trim().is_empty() && text.ends_with(script_line.trim_end()))
        .then(|| point(lines, source.start + indent + byte_of(script_line, before)))
}

/// The first byte of the line, if the line belongs to the span.
fn lines_start(lines: &SourceLines<'_>, line: usize, span: SourceSpan) -> Option<usize> {
    let inside = lines.text().get(span.start..span.end)?;
    let breaks = inside.match_indices('\n').nth((line - span.line).checked_sub(1)?)?;
    Some(span.start + breaks.0 + 1)
}

/// The byte, in a quoted scalar on one line, at which the value's character is written.
fn quoted_byte(written: &str, character: usize) -> Option<usize> {
    let double = written.starts_with('"');
    if written.contains(['\n', '\r']) {
        return None;
    }
    let mut byte = 1;
    for _ in 0..character {
        let mut rest = written.get(byte..)?.chars();
        byte += match (rest.next()?, rest.next()) {
            ('\\', Some(escape)) if double => match escape {
                'x' => 4,
                'u' => 6,
                'U' => 10,
                other => 1 + other.len_utf8(),
            },
            ('\'', Some('\'')) if !double => 2,
            (plain, _) => plain.len_utf8(),
        };
    }
    (byte < written.len()).then_some(byte)
}

fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

fn point(lines: &SourceLines<'_>, byte: usize) -> SourceSpan {
    lines.at(byte)
}
