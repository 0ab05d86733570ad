//! Verdicts in a text that need not be JSON: what it gives as a reason and, close to it, as a decision.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{LEAST_LETTERS, MOST_LETTERS, allowed, decision, decisions, is_near_text, letters, reasons};

/// So many bytes on each side of a reason its decision may stand.
const NEAR: usize = 300;

/// So many different reasons of a text are compared.
const MOST_REASONS: usize = 2000;

/// The names under which a reason stands.
const REASONS: [&str; 5] = ["reason", "rationale", "explanation", "reasoning", "justification"];
/// The names under which a decision stands.
const DECISIONS: [&str; 7] = ["verdict", "decision", "score", "rating", "label", "answer", "result"];

/// A reason that a text gives: where it begins, and the letters from there on.
pub(super) struct ShownReason {
    start: usize,
    letters: String,
}

impl ShownReason {
    /// All of a text.
    pub(super) fn all(text: &str) -> Vec<ShownReason> {
        let lower = text.to_ascii_lowercase();
        let of_key = |key| values(text, &lower, key).map(|(at, value)| (at, head(value, 4 * MOST_LETTERS)));
        let all = REASONS.into_iter().flat_map(of_key);
        let mut known = BTreeSet::new();
        let all = all.map(|(start, value)| ShownReason { start, letters: letters(value) });
        // Of those that begin alike for long, one is enough: an agent may write the same ones for pages.
        all.filter(|it| known.insert(it.letters.clone())).take(MOST_REASONS).collect()
    }

    /// Whether it begins with a reason, whatever follows on its line or the next.
    fn is_near(&self, own: &str) -> bool {
        let beginning = |text: &str, count: usize| -> String { text.chars().take(count).collect() };
        let own = beginning(own, MOST_LETTERS);
        let length = own.chars().count();
        let allowed = allowed(length);
        // Letters that are more or fewer shift those behind them, which counts once more at the cut.
        let begins_alike = |count: usize| {
            strsim::levenshtein(&beginning(&own, count), &beginning(&self.letters, count))
                <= (2 * allowed).min(count / 2)
        };
        // With letters more or fewer it ends elsewhere.
        let ends = [0, 1, allowed / 2, allowed].into_iter().flat_map(|more| [length - more.min(length), length + more]);
        begins_alike(LEAST_LETTERS)
            && begins_alike((4 * LEAST_LETTERS).min(length.saturating_sub(allowed)))
            && ends.into_iter().any(|end| is_near_text(&own, &beginning(&self.letters, end)))
    }
}

/// The beginning of a text, of so many bytes at most.
fn head(text: &str, most: usize) -> &str {
    &text[..boundary(text, most)]
}

/// The last place up to a byte at which a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Whether a text says, close to each other, the reason of a verdict and how it decides.
pub(super) fn stands_loosely(shown: &str, known: &[ShownReason], own: &Map<String, Value>) -> bool {
    if known.is_empty() {
        return false;
    }
    let own_reasons: Vec<String> = reasons(own).collect();
    let is_decided = |start: usize, length: usize| {
        let window = &shown[boundary(shown, start.saturating_sub(NEAR))..boundary(shown, start + length + NEAR)];
        let lower = window.to_ascii_lowercase();
        let mut own = decisions(own).peekable();
        own.peek().is_some()
            && own.all(|(key, word)| {
                let keys = [key].into_iter().chain(DECISIONS.into_iter().filter(|other| *other != key));
                let mut near = keys.flat_map(|key| values(window, &lower, key)).filter_map(|(_, value)| {
                    let end = value.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(value.len());
                    decision(&Value::String(value[..end].to_owned()))
                });
                near.any(|other| other == word)
            })
    };
    // With what else stands between its letters, a reason is hardly twice as long.
    let is_copied = |own: &String| known.iter().any(|it| it.is_near(own) && is_decided(it.start, 2 * own.len()));
    own_reasons.iter().any(is_copied)
}

/// So many characters may stand between a name and its value, or around a name.
const MOST_BETWEEN: usize = 12;

/// What a text gives as the value of a name, with its place, to the end of the text: `name: value`, `"name": "value"`,
/// `<name>value</name>`, a heading, `name is value` and the like. `lower` is the text in lower case.
fn values<'t>(text: &'t str, lower: &str, name: &str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
    let is_in_word = |at: usize| lower[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let name = name.to_ascii_lowercase();
    let places = lower.match_indices(&name).filter(|(at, _)| !is_in_word(*at));
    let places: Vec<usize> = places.map(|(at, name)| at + name.len()).collect();
    places.into_iter().filter_map(move |at| {
        let after = &text[at..];
        let after = after.strip_prefix(" is ").unwrap_or(after);
        let begin = after.find(char::is_alphanumeric)?;
        let between = &after[..begin];
        let separates = |c: char| matches!(c, ':' | '=' | '>' | '-' | '–' | '—' | '|' | '\n');
        let is_separated = between.contains(separates) || after.len() < text.len() - at;
        (is_separated && between.chars().count() <= MOST_BETWEEN)
            .then(|| (at + text[at..].len() - after.len(), &after[begin..]))
    })
}
