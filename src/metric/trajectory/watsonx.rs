//! watsonx Orchestrate's own counts, with their oddities.

use serde_json::{Map, Value};

use super::compare::MatchSession;
use super::date::PartialDateTime;
use super::equality::text_of;
use super::fuzzy::{FuzzyPair, decide};
use super::normal::{IGNORE_WORD, normalised, python_float};
use super::rule::{Rule, RuleKind};

/// The agent that a call of a tool passes the conversation to: its name, without the prefix that some models are given.
pub(super) fn agent_of(tool: &str) -> &str {
    tool.strip_prefix("chat_with_collaborator_").unwrap_or(tool)
}

/// Rounds as Python does: of what is exactly in the middle, to the even digit.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    // Rust's formatting rounds the exact value of the number, as Python's `round` does.
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// Precision and recall of tool calls. Neither applies where no call is expected; without any call the precision is 0.
pub fn precision_and_recall(expected: usize, total: usize, correct: usize, strict: bool) -> (Option<f64>, Option<f64>) {
    if expected == 0 {
        return (None, None);
    }
    let part = |whole: usize| if whole == 0 { 0.0 } else { correct as f64 / whole as f64 };
    let round = |value: f64| if strict { rounded(value, 2) } else { value };
    (Some(round(part(total))), Some(round(part(expected))))
}

/// F1 of the arguments: of each goal the last call of its tool, on average over the goals that have one.
pub(super) fn parameter_f1(session: &MatchSession<'_>) -> Option<f64> {
    if session.wanted.is_empty() {
        return None;
    }
    let input = &session.input;
    let mut found = Vec::new();
    for wanted in input.expected {
        let Some(made) = input.actual.iter().rev().find(|made| made.tool == wanted.tool) else { continue };
        let empty = Map::new();
        let actual = made.args.as_object().unwrap_or(&empty);
        let kind = |key: &str| kind(wanted.rules.get(key));
        // Unexpected arguments are not compared.
        let expected = wanted.args.as_ref().map(|args| args.as_object().unwrap_or(&empty));
        found.push(expected.and_then(|expected| f1(expected, actual, kind, session)));
    }
    if found.is_empty() {
        return Some(0.0);
    }
    let known: Vec<f64> = found.into_iter().flatten().collect();
    (!known.is_empty()).then(|| rounded(known.iter().sum::<f64>() / known.len() as f64, 4))
}

fn kind(rule: Option<&Rule>) -> RuleKind {
    rule.and_then(|rule| rule.options().rule).unwrap_or_default()
}

fn f1(
    expected: &Map<String, Value>,
    actual: &Map<String, Value>,
    kind: impl Fn(&str) -> RuleKind,
    session: &MatchSession<'_>,
) -> Option<f64> {
    if expected.is_empty() {
        return (!actual.is_empty()).then_some(0.0);
    }
    if expected.len() == 1 && expected.get("IGNORE").is_some_and(Value::is_null) {
        return None;
    }
    let (mut checked, mut matched) = (0, 0);
    for (key, value) in expected {
        let kind = kind(key);
        if kind == RuleKind::Ignore || (kind == RuleKind::Optional && !actual.contains_key(key)) {
            continue;
        }
        checked += 1;
        // The word for any value counts as checked and never as matched.
        if value.as_str() == Some(IGNORE_WORD) {
            continue;
        }
        let Some(made) = actual.get(key) else { continue };
        let (wanted, made) = (normalised(value), normalised(made));
        let same = if kind == RuleKind::Fuzzy { is_alike(&wanted, &made, session) } else { wanted == made };
        matched += usize::from(same);
    }
    let extra = actual.keys().filter(|key| !expected.contains_key(*key)).count();
    let all = matched + checked + extra;
    (all > 0).then(|| rounded(2.0 * matched as f64 / all as f64, 4))
}

fn is_alike(expected: &Value, actual: &Value, session: &MatchSession<'_>) -> bool {
    let (expected, actual) = (text_of(expected), text_of(actual));
    if let (Some(a), Some(b)) = (python_float(&expected), python_float(&actual)) {
        return (a - b).abs() <= 0.001;
    }
    if let (Some(a), Some(b)) = (PartialDateTime::parse(&expected), PartialDateTime::parse(&actual)) {
        return a.is_same(&b);
    }
    let pair = FuzzyPair { expected, actual };
    decide(&pair, session.comparer.answers, session.matcher.config().similarity, true).same == Some(true)
}
