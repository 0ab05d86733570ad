//! Explains a false expression by its data: how many items there were, and the values that it read of them.

use rhai::{Array, Dynamic, Scope};

use super::sides::value_of;
use crate::clock::Deadline;
use crate::script::{self, Lexeme, LexemeKind, closing, tokens};

/// The most values per path, and the most paths, that are shown.
const MAX_SHOWN: usize = 3;
/// The most items of a list that are inspected.
const MAX_ITEMS: usize = 1_000;

/// The data that a part of an expression looked at, in a sentence: the list of its first closure, or the texts that it
/// searched. `negated` means that the part had to be false.
pub(super) fn inspected(part: &str, negated: bool, scope: &Scope<'static>, deadline: Deadline) -> Option<String> {
    let tokens = tokens(part);
    let call = MethodCall::first(part, &tokens)?;
    let receiver = value_of(call.receiver, scope, deadline)?;
    let Some(closure) = &call.closure else {
        return Some(format!("{} is {}", script::line(call.receiver), script::short(&receiver)));
    };
    if receiver.is_unit() {
        return Some(format!("{} is absent", script::line(call.receiver)));
    }
    let items = receiver.as_array_ref().ok()?;
    let noun = if items.len() == 1 { "item" } else { "items" };
    let mut sentence = format!("{} has {} {noun}", script::line(call.receiver), items.len());
    if items.is_empty() {
        return Some(sentence);
    }
    let mapped = |body: &str| {
        let script = format!("({}).map(|{}| {body})", call.receiver, closure.parameter);
        value_of(&script, scope, deadline)?.into_array().ok()
    };
    // The items that made it false.
    let answers = mapped(closure.body)?;
    let wanted = match (call.method, negated) {
        ("all", false) => Some(false),
        ("none", false) | ("any" | "some", true) => Some(true),
        _ => None,
    };
    let is_of = |answer: &Dynamic| wanted.is_none_or(|wanted| answer.as_bool().unwrap_or(false) == wanted);
    let chosen: Vec<bool> = answers.iter().take(MAX_ITEMS).map(is_of).collect();
    let count = chosen.iter().filter(|chosen| **chosen).count();
    match wanted {
        Some(true) => sentence.push_str(&format!(", {count} of them fit")),
        Some(false) => sentence.push_str(&format!(", {count} of them don't fit")),
        None => {}
    }
    for path in closure.paths() {
        let Some(values) = mapped(path) else { continue };
        let values: Array =
            values.into_iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(value, _)| value).collect();
        sentence.push_str(&format!("; {}", describe_path(path, &values)));
    }
    Some(sentence)
}

/// The values at a path.
fn describe_path(path: &str, values: &[Dynamic]) -> String {
    let absent = values.iter().filter(|value| value.is_unit()).count();
    if absent == values.len() {
        return format!("`{path}` was absent in {absent} of {absent}");
    }
    let mut shown: Vec<String> = Vec::new();
    for value in values.iter().filter(|value| !value.is_unit()) {
        let value = script::short(value);
        if !shown.contains(&value) {
            shown.push(value);
        }
    }
    let more = shown.len().saturating_sub(MAX_SHOWN);
    shown.truncate(MAX_SHOWN);
    let mut sentence = format!("`{path}` was {}", shown.join(", "));
    if more > 0 {
        sentence.push_str(&format!(" and {more} more"));
    }
    if absent > 0 {
        sentence.push_str(&format!(", and absent in {absent} of {}", values.len()));
    }
    sentence
}

/// A method that is called on something.
struct MethodCall<'s> {
    receiver: &'s str,
    method: &'s str,
    closure: Option<Closure<'s>>,
}

/// `|parameter| body`.
struct Closure<'s> {
    parameter: &'s str,
    body: &'s str,
}

impl<'s> MethodCall<'s> {
    /// The first call with a closure outside of brackets, else the last call.
    fn first(script: &'s str, tokens: &[Lexeme<'s>]) -> Option<MethodCall<'s>> {
        let mut last = None;
        let mut at = 0;
        while at < tokens.len() {
            let is_call = at > 0
                && (tokens[at - 1].is(".") || tokens[at - 1].is("?."))
                && tokens[at].kind == LexemeKind::Word
                && tokens.get(at + 1).is_some_and(|next| next.is("("));
            if is_call && let Some(end) = closing(tokens, at + 1) {
                let receiver = script[..tokens[at - 1].start].trim().trim_start_matches('!').trim();
                let closure = Closure::within(script, &tokens[at + 2..end], tokens[end].start);
                let call = MethodCall { receiver, method: tokens[at].text, closure };
                if call.closure.is_some() {
                    return Some(call);
                }
                last = (end + 1 == tokens.len()).then_some(call);
                at = end;
            } else if tokens[at].opens() {
                at = closing(tokens, at)?;
            }
            at += 1;
        }
        last
    }
}

impl<'s> Closure<'s> {
    fn within(script: &'s str, inside: &[Lexeme<'s>], end: usize) -> Option<Closure<'s>> {
        match inside {
            [open, name, close, ..] if open.is("|") && name.kind == LexemeKind::Word && close.is("|") => {
                Some(Closure { parameter: name.text, body: script[close.end()..end].trim() })
            }
            _ => None,
        }
    }

    /// The paths that the body reads of its item: `it.properties.from`, without the methods that are called on it.
    fn paths(&self) -> Vec<&'s str> {
        let tokens = tokens(self.body);
        let mut paths: Vec<&str> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let is_own = token.kind == LexemeKind::Word && token.text == self.parameter;
            let after_dot = at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("?."));
            if !is_own || after_dot {
                continue;
            }
            let mut end = at;
            while tokens.get(end + 1).is_some_and(|dot| dot.is(".") || dot.is("?."))
                && tokens.get(end + 2).is_some_and(|name| name.kind == LexemeKind::Word)
                && !tokens.get(end + 3).is_some_and(|next| next.is("("))
            {
                end += 2;
            }
            let path = &self.body[token.start..tokens[end].end()];
            if end > at && !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths.truncate(MAX_SHOWN);
        paths
    }
}
