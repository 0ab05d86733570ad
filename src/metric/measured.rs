//! The result of a text measure.

use crate::score::Score;
use crate::text::visible;

/// The result of a measure of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How good it is.
    pub score: Score,
    /// A sentence where nothing is wrong; else a block of lines that shows what differs.
    pub why: String,
}

impl Measured {
    /// It holds wholly.
    pub fn passed(why: impl Into<String>) -> Measured {
        Measured { score: Score::ONE, why: why.into() }
    }

    /// It does not hold.
    pub fn failed(why: impl Into<String>) -> Measured {
        Measured { score: Score::ZERO, why: why.into() }
    }

    /// Whether nothing is wrong.
    pub fn is_full(&self) -> bool {
        self.score == Score::ONE
    }
}

/// Why nothing can be measured: an option that contradicts itself, or a text that is too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MeasureProblem(pub String);

/// Why nothing can be compared with what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// In a sentence.
    pub why: String,
    /// A hint.
    pub help: &'static str,
}

/// Shorthand for a problem.
pub(super) fn problem<T>(why: impl Into<String>) -> Result<T, MeasureProblem> {
    Err(MeasureProblem(why.into()))
}

/// How many characters of a text are shown at most.
const SHOWN: usize = 160;
/// How many characters are shown before the first that differs.
const BEFORE: usize = 30;

/// The beginning of a text, on one line.
pub fn shown(text: &str) -> String {
    shown_from(text, 0)
}

/// A text from a character on, on one line, with a sign where something is left out.
fn shown_from(text: &str, from: usize) -> String {
    let begins = if from > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(from);
    let part: String = rest.by_ref().take(SHOWN).collect();
    let ends = if rest.next().is_some() { "…" } else { "" };
    format!("\"{begins}{}{ends}\"", visible(&part))
}

/// Where two texts first differ, with both from shortly before that on.
pub fn first_difference(expected: &str, actual: &str) -> String {
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let line = expected.chars().take(same).filter(|c| *c == '\n').count() + 1;
    let from = same.saturating_sub(BEFORE);
    let of_line = if expected.contains('\n') { format!(", in line {line}") } else { String::new() };
    format!(
        "the texts differ from character {} on{of_line}\n  expected: {}\n  actual:   {}",
        same + 1,
        shown_from(expected, from),
        shown_from(actual, from)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_where_it_is() {
        assert_eq!(
            first_difference("Hello world", "Hello people"),
            "the texts differ from character 7 on\n  expected: \"Hello world\"\n  actual:   \"Hello people\""
        );
        let long = "x".repeat(200);
        let block = first_difference(&format!("{long}\nbye"), &format!("{long}\nby\u{1b}"));
        assert!(block.starts_with("the texts differ from character 204 on, in line 2\n  expected: \"…xxx"), "{block}");
        assert!(block.ends_with("xxx\\u{a}by\\u{1b}\""), "{block}");
        assert_eq!(shown(&"é".repeat(161)), format!("\"{}…\"", "é".repeat(160)));
    }
}
