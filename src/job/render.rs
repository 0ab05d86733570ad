//! Problems → the text that a reader sees.
//!
//! ```text
//! data/eval/agent.yml:12:5: unknown key `acceptanceCritera`
//!    |
//! 12 |     acceptanceCritera: "…"
//!    |     ^^^^^^^^^^^^^^^^^
//!    = expected one of: type, task, acceptanceCriteria
//!    = help: did you mean `acceptanceCriteria`?
//! ```

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use super::problem::{Problem, Problems};
use super::redaction::is_all_hidden;
use crate::text::{characters, visible};

/// A longer source line is cut to this many terminal columns around its caret.
const WIDEST: usize = 100;
/// How many of them stand before the caret in a cut line.
const BEFORE_CARET: usize = 40;
/// A tab is shown as that many spaces, so that the caret fits in every terminal.
const TAB: &str = "    ";

/// All problems, with their source lines and carets, a blank line between two. Plain text without colour; whatever the
/// file holds, nothing in it can steer a terminal.
pub fn render_problems(problems: &Problems) -> String {
    let mut text = problems.list.iter().map(render).collect::<Vec<_>>().join("\n");
    if problems.untold > 0 {
        let _ = writeln!(text, "\nand {} more", problems.untold);
    }
    text
}

fn render(problem: &Problem) -> String {
    let number = problem.line.to_string();
    let gutter = " ".repeat(number.len());
    let (source, caret) = source_and_caret(problem);
    let place = if problem.line == 0 { String::new() } else { format!(":{number}:{}", problem.column) };
    let mut text = format!("{}{place}: {}\n", visible(&problem.file), visible(&problem.message));
    // Nothing can be shown of an empty file, or of one that is not there.
    let is_nothing = problem.line <= 1 && problem.source_line.trim().is_empty();
    if !is_all_hidden(&problem.source_line) && !is_nothing {
        let _ = writeln!(text, "{gutter} |\n{}\n{gutter} | {caret}", format!("{number} | {source}").trim_end());
    }
    if !problem.expected.is_empty() {
        let _ = writeln!(text, "{gutter} = expected one of: {}", visible(&problem.expected.join(", ")));
    }
    if let Some(help) = &problem.help {
        let _ = writeln!(text, "{gutter} = help: {}", visible(help));
    }
    text
}

/// The source line as it is shown, and the caret line under it.
fn source_and_caret(problem: &Problem) -> (String, String) {
    let line: Vec<(char, bool)> = characters(problem.source_line.trim_end()).collect();
    let before = (problem.caret - 1).min(line.len());
    let after = (before + problem.width).min(line.len());
    let (first, last) = window(&line, before);

    let shown: String = line[first..last].iter().map(|character| cell(character.0, character.1).0).collect();
    let (left, right) = (if first > 0 { "…" } else { "" }, if last < line.len() { "…" } else { "" });
    let indent = left.chars().count() + columns(&line[first..before]);
    let carets = columns(&line[before..after.min(last).max(before)]).max(1);
    (format!("{left}{shown}{right}"), format!("{}{}", " ".repeat(indent), "^".repeat(carets)))
}

/// The part of the line that is shown: all of it, or what fits around the caret.
fn window(line: &[(char, bool)], caret: usize) -> (usize, usize) {
    if columns(line) <= WIDEST {
        return (0, line.len());
    }
    let mut room = WIDEST;
    let mut fits = |character: &&(char, bool), least: usize| {
        let left = room.checked_sub(cell(character.0, character.1).1).filter(|left| *left >= least);
        room = left.unwrap_or(room);
        left.is_some()
    };
    let first =
        caret - line[..caret].iter().rev().take_while(|character| fits(character, WIDEST - BEFORE_CARET)).count();
    let last = caret + line[caret..].iter().take_while(|character| fits(character, 0)).count();
    (first, last)
}

fn columns(characters: &[(char, bool)]) -> usize {
    characters.iter().map(|character| cell(character.0, character.1).1).sum()
}

/// A character as it is shown, and its columns.
fn cell(character: char, is_unsafe: bool) -> (String, usize) {
    match character {
        '\t' => (TAB.to_owned(), TAB.len()),
        _ if is_unsafe => {
            let escaped = character.escape_unicode().to_string();
            let width = escaped.len();
            (escaped, width)
        }
        _ => (character.to_string(), character.width().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(source_line: &str, column: usize, width: usize) -> Problem {
        Problem {
            file: "job.yml".to_owned(),
            line: 7,
            column,
            caret: column,
            width,
            source_line: source_line.to_owned(),
            message: "wrong".to_owned(),
            expected: Vec::new(),
            help: None,
        }
    }

    fn shown(source_line: &str, column: usize, width: usize) -> String {
        render_problems(&Problems { list: vec![problem(source_line, column, width)], untold: 0 })
    }

    #[test]
    fn everything_in_its_place() {
        let problem = Problem {
            file: "data/eval/agent.yml".to_owned(),
            line: 12,
            column: 5,
            caret: 5,
            width: 17,
            source_line: "    acceptanceCritera: \"…\"".to_owned(),
            message: "unknown key `acceptanceCritera`".to_owned(),
            expected: ["type", "task", "acceptanceCriteria"].map(str::to_owned).to_vec(),
            help: Some("did you mean `acceptanceCriteria`?".to_owned()),
        };
        assert_eq!(
            render_problems(&Problems { list: vec![problem], untold: 0 }),
            "data/eval/agent.yml:12:5: unknown key `acceptanceCritera`
   |
12 |     acceptanceCritera: \"…\"
   |     ^^^^^^^^^^^^^^^^^
   = expected one of: type, task, acceptanceCriteria
   = help: did you mean `acceptanceCriteria`?
"
        );
    }

    #[test]
    fn two_problems_have_a_blank_line_between_them() {
        let problems = Problems { list: vec![problem("a", 1, 1), problem("b", 1, 1)], untold: 12 };
        assert_eq!(
            render_problems(&problems),
            "job.yml:7:1: wrong\n  |\n7 | a\n  | ^\n\njob.yml:7:1: wrong\n  |\n7 | b\n  | ^\n\nand 12 more\n"
        );
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_caret_in_place() {
        assert_eq!(shown("\tä日本: x", 7, 1), "job.yml:7:7: wrong\n  |\n7 |     ä日本: x\n  |            ^\n");
        assert_eq!(shown("日本: x", 1, 2), "job.yml:7:1: wrong\n  |\n7 | 日本: x\n  | ^^^^\n");
    }

    #[test]
    fn a_caret_may_stand_behind_the_last_character() {
        assert_eq!(shown("ab", 3, 1), "job.yml:7:3: wrong\n  |\n7 | ab\n  |   ^\n");
        assert_eq!(shown("", 1, 1), "job.yml:7:1: wrong\n  |\n7 |\n  | ^\n");
    }

    #[test]
    fn a_long_line_is_cut_around_its_caret() {
        let line = format!("{}HERE{}", "a".repeat(200), "b".repeat(200));
        let expected = format!(
            "job.yml:7:201: wrong\n  |\n7 | …{}HERE{}…\n  | {}^^^^\n",
            "a".repeat(40),
            "b".repeat(56),
            " ".repeat(41)
        );
        assert_eq!(shown(&line, 201, 4), expected);
    }

    #[test]
    fn a_caret_ends_where_a_cut_line_ends() {
        let line = "x".repeat(300);
        let text = shown(&line, 1, 300);
        assert_eq!(text, format!("job.yml:7:1: wrong\n  |\n7 | {}…\n  | {}\n", "x".repeat(100), "^".repeat(100)));
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let text = shown("a\u{1b}[2J\u{202e}b", 2, 1);
        assert_eq!(text, "job.yml:7:2: wrong\n  |\n7 | a\\u{1b}[2J\\u{202e}b\n  |  ^^^^^^\n");
    }
}
