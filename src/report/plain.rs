//! Untrusted text, made harmless for a terminal.

use unicode_width::UnicodeWidthStr;

use crate::text::characters;

/// The text with control characters (but newline and tab) and invisible direction marks spelled out, so that nothing an
/// agent says moves the cursor, changes colours or hides itself; and with a backslash in what a CI system would take for a
/// command in its log.
pub fn plain(text: &str) -> String {
    without_commands(printable(text))
}

/// GitHub's commands, each between `::`.
const COMMANDS: [&str; 15] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// The beginnings of commands of Azure Pipelines, of older runners of GitHub, and of TeamCity.
const MARKED: [&str; 3] = ["##vso[", "##[", "##teamcity["];

/// A backslash before each `::` that begins a command, and within each mark that does. A line may be broken before any word, so that
/// each word counts.
fn without_commands(text: String) -> String {
    if !text.contains("::") && !text.contains("##") {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 8);
    let mut last = 0;
    for (at, _) in text.match_indices(['#', ':']) {
        let rest = &text[at..];
        let is_mark = MARKED.iter().any(|mark| has_prefix(rest, mark));
        let is_first = || text[..at].chars().next_back().is_none_or(char::is_whitespace);
        let breaks_at = match rest.as_bytes() {
            [b'#', ..] if is_mark => at + 1,
            [b':', b':', ..] if is_first() && is_command(&rest[2..]) => at,
            _ => continue,
        };
        safe.push_str(&text[last..breaks_at]);
        safe.push('\\');
        last = breaks_at;
    }
    safe.push_str(&text[last..]);
    safe
}

fn is_command(rest: &str) -> bool {
    let ends = |name: &&str| rest[name.len()..].is_empty() || rest[name.len()..].starts_with([':', ' ']);
    COMMANDS.iter().any(|name| has_prefix(rest, name) && ends(name))
}

/// Whether a text begins with this one, in whatever case.
fn has_prefix(text: &str, prefix: &str) -> bool {
    text.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn printable(text: &str) -> String {
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

/// The text on one line of at most `width` columns, cut with `…`.
pub fn one_line(text: &str, width: usize) -> String {
    let line = joined(text);
    if line.width() <= width {
        return line;
    }
    let (beginning, _) = split_at_column(&line, width.saturating_sub(1));
    format!("{}…", beginning.trim_end())
}

/// A name on one line of at most `width` columns, cut in its middle: names of a kind often differ at their ends.
pub fn short_name(text: &str, width: usize) -> String {
    let line = plain(text).replace('\n', " ");
    if line.width() <= width {
        return line;
    }
    let kept = width.saturating_sub(1);
    let (beginning, _) = split_at_column(&line, kept.div_ceil(2));
    let mut end = line.char_indices().nth_back(most_characters(width)).map_or(&*line, |(at, _)| &line[at..]);
    while end.width() > kept / 2 {
        end = end.char_indices().nth(1).map_or("", |(next, _)| &end[next..]);
    }
    format!("{beginning}…{end}")
}

/// The text in lines, broken between words, or within one that is longer than a line. The first line has room for
/// `first` columns, each other one for `rest`.
pub fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
    let (first, rest) = (first.max(1), rest.max(1));
    let mut lines: Vec<String> = vec![String::new()];
    let text = plain(text);
    for mut word in text.split_whitespace() {
        loop {
            let room = if lines.len() == 1 { first } else { rest };
            let Some(line) = lines.last_mut() else { break };
            let used = if line.is_empty() { 0 } else { line.width() + 1 };
            if fits(word, room.saturating_sub(used)) {
                line.push_str(if used == 0 { "" } else { " " });
                line.push_str(word);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let (beginning, end) = split_at_column(word, room);
            // A character may be wider than a line.
            let at = if beginning.is_empty() {
                word.chars().next().map_or(0, char::len_utf8)
            } else {
                word.len() - end.len()
            };
            line.push_str(&word[..at]);
            word = &word[at..];
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    // A word that was broken may end in what begins a command.
    lines.into_iter().map(without_commands).collect()
}

/// Whether a text has room in so many columns. Of a long one only the beginning is measured.
fn fits(text: &str, columns: usize) -> bool {
    text.char_indices().nth(most_characters(columns)).is_none() && text.width() <= columns
}

/// No text of more characters fits into so many columns: not all of them have no width.
fn most_characters(columns: usize) -> usize {
    8 * columns + 64
}

fn joined(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The part of the text that fits into so many columns, and the rest.
fn split_at_column(text: &str, columns: usize) -> (&str, &str) {
    let mut end = 0;
    for (at, character) in text.char_indices() {
        let next = at + character.len_utf8();
        if text[..next].width() > columns {
            break;
        }
        end = next;
    }
    text.split_at(end)
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
    fn an_agent_cannot_command_the_ci_system_that_keeps_the_log() {
        for (said, shown) in [
            ("Sure.\n  ::add-mask::o", "Sure.\n  \\::add-mask::o"),
            ("a ::error file=x,line=1::b", "a \\::error file=x,line=1::b"),
            ("x ##vso[task.setvariable variable=PATH]/evil", "x #\\#vso[task.setvariable variable=PATH]/evil"),
            ("##[error]no ##teamcity[x]", "#\\#[error]no #\\#teamcity[x]"),
            ("::std::mem and std::error::Error, ## a heading", "::std::mem and std::error::Error, ## a heading"),
        ] {
            assert_eq!(plain(said), shown);
        }
        assert_eq!(wrapped("xxxx::add-mask::o", 4, 20), ["xxxx", "\\::add-mask::o"], "a word is broken before it");
        assert_eq!(plain("##VSO[x]"), "#\\#VSO[x]");
    }

    #[test]
    fn lines_are_broken_between_words_or_within_one_that_is_too_long() {
        assert_eq!(wrapped("one two three 提醒 four", 8, 8), ["one two", "three", "提醒", "four"]);
        assert_eq!(wrapped("one two three", 3, 9), ["one", "two three"]);
        assert_eq!(wrapped("an unbreakable 提醒", 4, 4), ["an", "unbr", "eaka", "ble", "提醒"]);
        assert_eq!(wrapped("提醒", 1, 1), ["提", "醒"], "wider than any line");
        assert_eq!(wrapped("", 4, 4), [""]);
    }

    #[test]
    fn lines_and_names_are_cut_by_columns() {
        assert_eq!(one_line("naïve\n  café", 20), "naïve café");
        assert_eq!(one_line("naïve café", 6), "naïve…");
        assert_eq!(one_line("提醒提醒", 5), "提醒…");
        assert_eq!(short_name("anthropic/claude-sonnet-4-20250514", 15), "anthrop…0250514");
        assert_eq!(short_name("提醒提醒提醒", 7), "提…醒", "a wide character is whole or left out");
        assert_eq!(short_name("short", 7), "short");
    }
}
