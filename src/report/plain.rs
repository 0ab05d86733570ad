//! Untrusted text, made harmless for a terminal.

use unicode_width::UnicodeWidthStr;

use crate::text::characters;

/// The text with control characters (but newline and tab) and invisible direction marks spelled out, so that nothing an
/// agent says moves the cursor, changes colours or hides itself.
pub fn plain(text: &str) -> String {
    characters(text).fold(String::with_capacity(text.len()), |mut plain, (c, is_unsafe)| {
        match c {
            '\n' => plain.push('\n'),
            '\t' => plain.push_str("    "),
            '\r' => {}
            c if is_unsafe => plain.extend(c.escape_unicode()),
            c => plain.push(c),
        }
        plain
    })
}

/// The text on one line of at most `width` characters, cut with `…`.
pub fn one_line(text: &str, width: usize) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(1)).chain(std::iter::once('…')).collect()
}

/// The text in lines of at most `width` columns, broken between words, all but the first indented by `indent`.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in plain(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mred\u{7}\u{202e}x\u{9b}1m"), "a\\u{1b}[31mred\\u{7}\\u{202e}x\\u{9b}1m");
        assert_eq!(plain("two\r\nlines\tand a tab"), "two\nlines    and a tab");
    }

    #[test]
    fn words_are_wrapped_by_columns_and_never_split() {
        assert_eq!(wrapped("one two three 提醒 four", 8, 2), "one two\n  three\n  提醒\n  four");
        assert_eq!(wrapped("unbreakable", 4, 2), "unbreakable");
        assert_eq!(wrapped("", 4, 2), "");
    }

    #[test]
    fn one_line_cuts_by_characters_not_bytes() {
        assert_eq!(one_line("naïve\n  café", 20), "naïve café");
        assert_eq!(one_line("naïve café", 6), "naïve…");
    }
}
