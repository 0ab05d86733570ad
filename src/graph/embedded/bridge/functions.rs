//! Functions that the engine has under another name, or not quite.

use super::{Bridge, items, next, previous};
use crate::graph::cypher::{Kind, Token, closing};

impl Bridge {
    /// `name(…)`: gives where the text goes on.
    pub(super) fn function(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let name = tokens[at];
        let open = next(tokens, at)?;
        if name.kind != Kind::Word
            || !tokens[open].is("(")
            || previous(tokens, at).is_some_and(|token| token.is(".") || token.is(":"))
        {
            return None;
        }
        let close = closing(tokens, open)?;
        let inside = &tokens[open + 1..close];
        let empty = inside.iter().all(|token| matches!(token.kind, Kind::Space | Kind::Comment));
        let rewritten = match (name.text.to_ascii_lowercase().as_str(), empty) {
            ("timestamp", true) => "datetime().epochMillis".to_owned(),
            ("randomuuid", true) => random_uuid(),
            ("elementid", false) => format!("toString(id({}))", self.written(inside)),
            ("isempty", false) => {
                let x = self.written(inside);
                // Strings and lists have a size, maps have keys, and anything else makes `keys` complain.
                format!(
                    "(CASE WHEN ({x}) IS NULL THEN NULL WHEN size({x}) IS NULL THEN size(keys({x})) = 0 ELSE size({x}) = 0 END)"
                )
            }
            ("round", false) if items(inside).len() == 1 => {
                let x = self.written(inside);
                format!("(CASE WHEN ({x}) < 0 THEN round({x}, 0, 'HALF_DOWN') ELSE round({x}) END)")
            }
            ("tostring", false) => with_seconds(&self.written(inside)),
            ("lower", false) => format!("toLower({})", self.written(inside)),
            ("upper", false) => format!("toUpper({})", self.written(inside)),
            ("ceiling", false) => format!("ceil({})", self.written(inside)),
            _ => return None,
        };
        self.text.push_str(&rewritten);
        Some(close + 1)
    }
}

/// `toString(x)`; a text is itself, and what looks like a time without seconds gets them.
fn with_seconds(x: &str) -> String {
    let text = format!("toString({x})");
    let end = format!("(CASE WHEN {text} CONTAINS 'T' THEN size(split({text}, 'T')[0]) + 6 ELSE 5 END)");
    format!(
        "(CASE WHEN ({x}) = {text} OR NOT {text} =~ '(.*T)?[0-9]{{2}}:[0-9]{{2}}([Z+-].*)?' THEN {text} \
         ELSE substring({text}, 0, {end}) + ':00' + substring({text}, {end}) END)"
    )
}

/// A version 4 UUID out of `rand()`, drawn anew for each row.
fn random_uuid() -> String {
    let digit = "substring('0123456789abcdef', toInteger(rand() * 16), 1)";
    let variant = "substring('89ab', toInteger(rand() * 4), 1)";
    let parts: Vec<String> = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx"
        .chars()
        .map(|c| match c {
            'x' => digit.to_owned(),
            'y' => variant.to_owned(),
            c => format!("'{c}'"),
        })
        .collect();
    format!("({})", parts.join(" + "))
}
