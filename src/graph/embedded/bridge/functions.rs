//! Functions that the engine has under another name, or not quite.

use super::{Rewritten, write};
use crate::cypher::{Kind, Statement};

/// `name(…)`.
pub(super) fn function(s: &Statement<'_>, at: usize) -> Rewritten {
    let close = s.close(at + 1).filter(|_| s.is(at + 1, "(") && s.kind(at) == Some(Kind::Word))?;
    if s.symbol(at.wrapping_sub(1), ".:") {
        return None;
    }
    let x = || write(s, at + 2..close);
    let rewritten = match (s.at(at).to_ascii_lowercase().as_str(), close == at + 2) {
        ("timestamp", true) => "datetime().epochMillis".to_owned(),
        ("randomuuid", true) => random_uuid(),
        ("elementid", false) => format!("toString(id({}))", x()),
        ("isempty", false) => {
            let x = x();
            // Strings and lists have a size, maps have keys, and anything else makes `keys` complain.
            format!(
                "(CASE WHEN ({x}) IS NULL THEN NULL WHEN size({x}) IS NULL THEN size(keys({x})) = 0 ELSE size({x}) = 0 END)"
            )
        }
        ("round", false) if s.list(at + 2..close).len() == 1 => {
            let x = x();
            format!("(CASE WHEN ({x}) < 0 THEN round({x}, 0, 'HALF_DOWN') ELSE round({x}) END)")
        }
        ("tostring", false) => with_seconds(&x()),
        ("lower", false) => format!("toLower({})", x()),
        ("upper", false) => format!("toUpper({})", x()),
        ("ceiling", false) => format!("ceil({})", x()),
        _ => return None,
    };
    Some((rewritten, close + 1))
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
