//! Kotlin's texts: `"${x}"` is filled in, `"""x"""` is taken as it is. Rhai fills in only within backticks.

use super::RhaiWriter;
use crate::script::tokens::{Lexeme, LexemeKind};

/// The message on a text that would not be interpolated.
pub(crate) const FILLED_IN: &str = "Rhai fills in `${…}` only in a text in backticks";

/// The message on a text in three quotes, which would keep a quote at both ends.
pub(crate) const RAW: &str = "Kotlin's three quotes are not Rhai";

impl RhaiWriter<'_> {
    /// A text in Rhai's spelling, and the place of the first token after it.
    pub(crate) fn text(&mut self, place: usize) -> Option<(Option<String>, usize)> {
        let token = self.tokens[place];
        if token.kind != LexemeKind::Quoted || !token.text.starts_with('"') {
            return None;
        }
        if let Some((inside, next)) = self.raw(place) {
            self.note(RAW, token.start);
            let rhai = match inside.contains('\n') && !inside.contains('`') {
                true => format!("`{inside}`"),
                false => format!("\"{}\"", inside.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
            };
            return Some((Some(rhai), next));
        }
        let inside = token.text.get(1..token.text.len().checked_sub(1)?)?;
        let filled = self.filled(inside).filter(|filled| !filled.contains('`'))?;
        self.note(FILLED_IN, token.start);
        Some((Some(format!("`{filled}`")), place + 1))
    }

    /// The text between two triple quotes, and the first token after them.
    fn raw(&self, place: usize) -> Option<(String, usize)> {
        let start = self.tokens[place].start;
        let rest = self.script[start..].strip_prefix("\"\"\"")?;
        let length = rest.find("\"\"\"").filter(|length| *length > 0)?;
        let end = start + length + 6;
        let next = self.tokens.iter().position(|token| token.start >= end).unwrap_or(self.tokens.len());
        // A token that reaches beyond them reads the quotes in another way.
        (self.tokens[next - 1].end() == end).then(|| (rest[..length].to_owned(), next))
    }

    /// The text with `$name` as `${name}`; `None` where nothing is filled in. A name that the script does not have is text.
    fn filled(&self, inside: &str) -> Option<String> {
        let is_known = |name: &str| {
            self.tokens.iter().any(|token: &Lexeme<'_>| token.kind == LexemeKind::Word && token.text == name)
                || ["it", "objectContext", "evaluation", "changes"].contains(&name)
        };
        let (mut text, mut rest, mut found) = (String::new(), inside, false);
        while let Some(at) = rest.find('$') {
            let (before, after) = (&rest[..at], &rest[at + 1..]);
            text.push_str(before);
            let is_escaped = before.ends_with('\\');
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            let name = &after[..end];
            if after.starts_with('{') && after.contains('}') && !is_escaped {
                found = true;
                text.push('$');
                rest = after;
            } else if is_known(name) && !is_escaped {
                found = true;
                text.push_str(&format!("${{{name}}}"));
                rest = &after[end..];
            } else {
                text.push('$');
                rest = after;
            }
        }
        text.push_str(rest);
        found.then_some(text)
    }
}
