//! Expected texts that are regular expressions.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

use super::measured::{MeasureProblem, shown};

/// How much memory a compiled pattern may take.
const LARGEST: usize = 1 << 20;

/// The hint for an expected text that is no regular expression.
pub(super) const PATTERN_HELP: &str = "a bracket or another sign that stands for itself needs a backslash: `\\(`";

/// A text as a regular expression. A brace that begins no repetition stands for itself, as everywhere but in Rust.
///
/// # Errors
/// It is none; the sentence says why.
pub(super) fn pattern(text: &str, folds: bool) -> Result<Regex, MeasureProblem> {
    let build = |text: &str| RegexBuilder::new(text).size_limit(LARGEST).case_insensitive(folds).build();
    let text = &*without_quotes(text);
    build(text).or_else(|error| build(&with_literal_braces(text)).map_err(|_| error)).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        MeasureProblem(format!("{} is no regular expression: {}", shown(text), why.trim_start_matches("error: ")))
    })
}

/// A pattern of RE2, in which every sign between `\Q` and `\E`, or the end, stands for itself: written sign by sign.
fn without_quotes(text: &str) -> Cow<'_, str> {
    if !text.contains(r"\Q") {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        let quoted = escape.strip_prefix(r"\Q");
        match quoted {
            Some(quoted) => {
                let (literal, behind) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                plain.push_str(&regex::escape(literal));
                rest = behind;
            }
            None => {
                let end = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                plain.push_str(&escape[..end]);
                rest = &escape[end..];
            }
        }
    }
    Cow::Owned(plain + rest)
}

fn with_literal_braces(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                escaped.push(c);
                let next = chars.next().map(|(_, c)| c);
                escaped.extend(next);
                // `\p{Greek}`, `\x{263A}`
                if next.is_some_and(|c| matches!(c, 'p' | 'P' | 'x' | 'u' | 'U' | 'b'))
                    && chars.as_str().starts_with('{')
                {
                    escaped.extend(chars.next().map(|(_, c)| c));
                }
            }
            '{' if !begins_repetition(&text[at + 1..]) => escaped.push_str(r"\{"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Whether `2}`, `2,}` or `2,3}` comes next.
fn begins_repetition(rest: &str) -> bool {
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let after_comma = after.strip_prefix(',').map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
    after.len() < rest.len() && after_comma.unwrap_or(after).starts_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_re2_quotes_stands_for_itself() {
        for (text, matching, other) in
            [(r"\Qa.b\E+", "a.bb", "axb"), (r"x\Q(y", "x(y", "xy"), (r"\\Q", r"\Q", "Q"), (r"\Q\E\d\Q[\E", "7[", "d[")]
        {
            let pattern = pattern(text, false).unwrap();
            let is_all = |reply: &str| pattern.find(reply).is_some_and(|found| found.as_str() == reply);
            assert!(is_all(matching) && !is_all(other), "{text}: {pattern}");
        }
    }

    #[test]
    fn a_brace_that_begins_no_repetition_stands_for_itself() {
        for (text, reply, is_match) in [
            (r#"{"id": \d{2}}"#, r#"{"id": 12}"#, true),
            (r#"{"id": \d{2}}"#, r#"{"id": 1}"#, false),
            (r"a{x} \p{Greek}{1,}", "a{x} α", true),
            (r"\{a{2,3}\}", "{aa}", true),
            ("a{", "a{", true),
        ] {
            assert_eq!(pattern(text, false).unwrap().is_match(reply), is_match, "{text}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_reported_on_one_line() {
        let why = |text: &str| pattern(text, false).unwrap_err().to_string();
        assert_eq!(why("a(b"), r#""a(b" is no regular expression: unclosed group"#);
        assert_eq!(why("*"), r#""*" is no regular expression: repetition operator missing expression"#);
        assert!(why(r"\w{1000}{1000}").contains("size limit"), "{}", why(r"\w{1000}{1000}"));
    }
}
