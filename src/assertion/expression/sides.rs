//! Why an expression is false: what its sides were, where that is cheap to say.

use rhai::{Dynamic, Scope};

use super::inspected::inspected;
use crate::clock::Deadline;
use crate::script::{self, EXPRESSION, Lexeme, evaluate_part, tokens};

/// The comparisons that are taken apart.
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// The part that made an expression false: the first false part of `… && …`, and the sides of a comparison.
pub(super) fn explain(script: &str, scope: &Scope<'static>, deadline: Deadline) -> Option<String> {
    let tokens = tokens(script);
    if tokens.iter().any(|token| token.is(";") || token.is("=") || token.is("=>")) {
        return None;
    }
    let top = top_level(&tokens);
    if top.iter().any(|token| token.is("||") || token.is("|") || token.is("{") || token.is("??")) {
        return None;
    }
    let ands: Vec<&Lexeme<'_>> = top.iter().copied().filter(|token| token.is("&&")).collect();
    if !ands.is_empty() {
        let ends = ands.iter().map(|token| token.start).chain([script.len()]);
        let starts = [0].into_iter().chain(ands.iter().map(|token| token.end()));
        let parts = starts.zip(ends).map(|(start, end)| script[start..end].trim());
        let part = parts
            .into_iter()
            .find(|part| value_of(part, scope, deadline).is_some_and(|value| value.as_bool() != Ok(true)))?;
        return Some(explain(part, scope, deadline).unwrap_or_else(|| format!("{} is false", script::line(part))));
    }
    let mut comparisons = top.into_iter().filter(|token| COMPARISONS.iter().any(|sign| token.is(sign)));
    let operator = match (comparisons.next(), comparisons.next()) {
        (Some(operator), None) => operator,
        (None, _) => {
            let negated = script.trim_start().starts_with('!');
            return inspected(script, negated, scope, deadline)
                .map(|inspected| format!("{} is false: {inspected}", script::line(script)));
        }
        _ => return None,
    };
    let (left, right) = (&script[..operator.start], &script[operator.end()..]);
    let (left_value, right_value) = (value_of(left, scope, deadline)?, value_of(right, scope, deadline)?);
    let mut why = format!("{}: the left side is {}", script::line(script), script::shown(&left_value));
    if script::shown(&right_value) != right.trim() {
        why.push_str(&format!(", the right side is {}", script::shown(&right_value)));
    }
    if let Some(inspected) = inspected(left, false, scope, deadline).filter(|_| left.contains('|')) {
        why.push_str(&format!("; {inspected}"));
    }
    Some(why)
}

/// The value of a part of an expression.
pub(super) fn value_of(script: &str, scope: &Scope<'static>, deadline: Deadline) -> Option<Dynamic> {
    evaluate_part(script, scope, &EXPRESSION, deadline)
}

/// The tokens outside brackets, and the brackets themselves.
fn top_level<'t, 's>(tokens: &'t [Lexeme<'s>]) -> Vec<&'t Lexeme<'s>> {
    let mut depth = 0usize;
    let mut top = Vec::new();
    for token in tokens {
        if token.closes() {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            top.push(token);
        }
        if token.opens() {
            depth += 1;
        }
    }
    top
}
