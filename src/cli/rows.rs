//! Rows of a terminal: where lines break, and how many rows they take. Colours take no room.

use unicode_width::UnicodeWidthChar;

/// A character's columns; none within one of our own colours.
fn columns(c: char, is_colour: &mut bool) -> usize {
    if c == '\u{1b}' {
        *is_colour = true;
        return 0;
    }
    if *is_colour {
        *is_colour = !c.is_ascii_alphabetic();
        return 0;
    }
    c.width().unwrap_or_default()
}

/// How many rows a line takes where the terminal breaks it.
pub(super) fn rows(line: &str, width: usize) -> usize {
    let mut is_colour = false;
    let used: usize = line.chars().map(|c| columns(c, &mut is_colour)).sum();
    used.div_ceil(width.max(1)).max(1)
}

/// The text with its lines broken between words, each row but the first of a line below its words, which begin at this column.
pub(super) fn hanging(text: &str, indent: usize, width: usize) -> String {
    let indent = if indent * 2 > width { 4.min(width / 2) } else { indent };
    let mut page = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in text.split('\n').enumerate() {
        page.push_str(if number > 0 { "\n" } else { "" });
        let (mut is_colour, mut column, mut gap) = (false, 0, None);
        for c in line.chars() {
            let wide = columns(c, &mut is_colour);
            while c != ' ' && column + wide > width && column > indent {
                // Behind the last gap, or within a word that is longer than a row.
                let (at, before) = gap.take().unwrap_or((page.len(), column));
                let end = page[..at].trim_end_matches(' ').len();
                page.replace_range(end..at, &format!("\n{:indent$}", ""));
                column = indent + column - before;
            }
            page.push(c);
            column += wide;
            if c == ' ' && column > indent {
                gap = Some((page.len(), column));
            }
        }
    }
    page
}

/// Sentences with their lines broken between words. What is shown as it is written stays whole: lines of a file, and commands
/// to copy.
pub(super) fn sentences(text: &str, width: usize) -> String {
    let broken = |line: &str| {
        let bare = line.trim_start();
        let is_of_file = bare.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
        if is_of_file || bare.trim_start_matches("try: ").starts_with("eval-job ") {
            return line.to_owned();
        }
        hanging(line, line.len() - bare.len() + 2, width)
    };
    text.split('\n').map(broken).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_lines_go_on_below_their_words() {
        for (text, indent, width, broken) in [
            ("case 1  one two three", 8, 16, "case 1  one two\n        three"),
            ("case 1  one two three", 7, 15, "case 1  one two\n       three"),
            ("case 1  one two three", 8, 15, "case 1  one two\n    three"),
            ("case 1  unbreakable", 6, 13, "case 1\n      unbreak\n      able"),
            ("case 1  \u{1b}[31mone two\u{1b}[0m three", 8, 16, "case 1  \u{1b}[31mone two\u{1b}[0m\n        three"),
            ("case 1  提醒 提醒提", 6, 12, "case 1  提醒\n      提醒提"),
            ("one\ntwo three", 2, 5, "one\ntwo\n  thr\n  ee"),
            ("fits", 2, 10, "fits"),
        ] {
            assert_eq!(hanging(text, indent, width), broken);
        }
    }

    #[test]
    fn sentences_are_broken_and_lines_of_a_file_are_not() {
        let text = "job.yml:12:1: a long problem\n   |\n12 | a line as it is written\n   = help: do it better\n  try: eval-job run here";
        assert_eq!(
            sentences(text, 20),
            "job.yml:12:1: a long\n  problem\n   |\n12 | a line as it is written\n   = help: do it\n     better\n  try: eval-job run here"
        );
    }

    #[test]
    fn a_line_takes_as_many_rows_as_it_needs() {
        assert_eq!(
            [("", 5), ("12345", 5), ("123456", 5), ("\u{1b}[31m12345\u{1b}[0m", 5)]
                .map(|(line, width)| rows(line, width)),
            [1, 1, 2, 1]
        );
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_word_is_lost(text in "[a-z提 \n]{0,200}", indent in 0_usize..20, width in 8_usize..60) {
            let broken = hanging(&text, indent, width);
            prop_assert!(broken.split('\n').all(|line| rows(line.trim_end(), width) == 1), "{}", broken);
            let bare = |text: &str| text.replace([' ', '\n'], "");
            prop_assert_eq!(bare(&broken), bare(&text));
        }
    }
}
