//! How many of the expected arguments a call has: what partial scores are made of.

use serde_json::Map;

use super::call::{CallComparer, ExpectedUse, is_any};
use super::compiled::STRICT;
use super::normal::IGNORE_WORD;
use super::rule::RuleKind;
use crate::evidence::ToolUse;

/// How many of the expected arguments a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Credit {
    /// Expected arguments that are compared.
    pub(super) checked: usize,
    /// Expected arguments with the expected value.
    pub(super) matched: usize,
    /// Unexpected arguments.
    pub(super) extra: usize,
    /// Whether the arguments are compared at all.
    pub(super) applies: bool,
}

impl Credit {
    /// The part of the expected arguments that the call has.
    pub(super) fn part(self) -> f64 {
        if self.checked == 0 { 1.0 } else { self.matched as f64 / self.checked as f64 }
    }

    /// F1 of the arguments; `None` where there is nothing to compare.
    pub(super) fn f1(self) -> Option<f64> {
        let all = self.checked + self.matched + self.extra;
        (self.applies && all > 0).then(|| 2.0 * self.matched as f64 / all as f64)
    }
}

impl CallComparer<'_> {
    /// How many of the expected arguments, those of the first level, the call has. `None` where it is of another tool.
    pub(super) fn credit(&self, wanted: &ExpectedUse<'_>, made: &ToolUse) -> Option<Credit> {
        let matcher = self.matcher;
        let tool = matcher.tool_rules(&made.tool, &wanted.call.tool);
        if wanted.call.tool != made.tool && self.names_decide {
            return None;
        }
        let expected = match &wanted.call.args {
            None => return Some(Credit::default()),
            Some(expected) if is_any(matcher, expected) => return Some(Credit::default()),
            Some(expected) => expected,
        };
        let empty = Map::new();
        let actual = made.args.as_object().unwrap_or(&empty);
        let expected = expected.as_object().unwrap_or(&empty);
        let layers = self.layers(wanted, tool);
        let mut credit = Credit { applies: matcher.arguments, ..Credit::default() };
        for (key, expected) in expected {
            let rule = layers.exact(key).unwrap_or(&STRICT);
            let is_free =
                rule.kind == RuleKind::Ignore || (matcher.has_ignore_word && expected.as_str() == Some(IGNORE_WORD));
            let is_left_out = !actual.contains_key(key)
                && (rule.kind == RuleKind::Optional
                    || !matcher.config.strict
                        && self.comparison(layers, false).at_path(key).parts_may_be_absent(rule, expected));
            if is_free || is_left_out {
                continue;
            }
            credit.checked += 1;
            let Some(actual) = actual.get(key) else { continue };
            let mut comparison = self.comparison(layers, false);
            if !layers.are_empty() {
                comparison = comparison.at_path(key);
            }
            let same = comparison.value(rule, &matcher.mode, expected, actual);
            let mut alike = true;
            for (_, pair) in comparison.fuzzy.iter().filter(|_| same) {
                let decision = self.decide(pair);
                if decision.same.is_none() {
                    self.doubts(key, &decision.who);
                }
                alike &= decision.same == Some(true);
            }
            if let Some(doubt) = comparison.unknown.first().filter(|_| same) {
                self.doubts(key, &doubt.why);
            }
            credit.matched += usize::from(same && alike && comparison.unknown.is_empty());
        }
        credit.extra = actual.keys().filter(|key| !expected.contains_key(*key) && !layers.may_differ(key)).count();
        Some(credit)
    }
}
