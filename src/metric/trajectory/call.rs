//! Compares one actual call with one expected call.

use std::cell::{Cell, RefCell};

use serde_json::{Map, Value};

use super::compiled::{Layers, PathRules, STRICT};
use super::equality::{Equality, Mode};
use super::expected::ExpectedCall;
use super::fuzzy::{FuzzyAnswers, FuzzyPair, decide};
use super::matcher::{CompiledTool, TrajectoryMatcher};
use super::normal::flattened;
use super::rule::RuleKind;
use super::value::{CallDifference, ValueComparison, ValueDoubt};
use crate::clock::Deadline;
use crate::evidence::ToolUse;
use crate::metric::measured::Unusable;

/// Whether two calls are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallVerdict {
    Same,
    Differs,
    /// It depends on texts of which it is unknown whether they mean the same.
    Unknown,
}

/// An expected call with the rules that it brings.
pub(super) struct ExpectedUse<'a> {
    pub(super) call: &'a ExpectedCall,
    pub(super) rules: Option<PathRules>,
}

/// Compares calls; the answers about texts come from outside.
pub(super) struct CallComparer<'a> {
    pub(super) matcher: &'a TrajectoryMatcher,
    pub(super) answers: &'a dyn FuzzyAnswers,
    pub(super) names_decide: bool,
    /// Whether a text was left to others.
    pub(super) has_fuzzy: Cell<bool>,
    /// Until when scripts may run.
    pub(super) deadline: Option<Deadline>,
    /// The first reason why something is not known.
    pub(super) doubt: RefCell<Option<String>>,
}

impl CallComparer<'_> {
    /// Whether the calls are the same.
    pub(super) fn verdict(&self, wanted: &ExpectedUse<'_>, made: &ToolUse) -> CallVerdict {
        if self.names_decide && wanted.call.tool != made.tool {
            return CallVerdict::Differs;
        }
        let (same, comparison) = self.compare(wanted, made, false);
        if !same {
            return CallVerdict::Differs;
        }
        let mut doubt = comparison.unknown.into_iter().next();
        if !comparison.fuzzy.is_empty() {
            self.has_fuzzy.set(true);
        }
        for (path, pair) in comparison.fuzzy {
            let decision = self.decide(&pair);
            match decision.same {
                Some(true) => {}
                Some(false) => return CallVerdict::Differs,
                None if doubt.is_none() => doubt = Some(ValueDoubt { path, why: decision.who, help: None }),
                None => {}
            }
        }
        match doubt {
            Some(ValueDoubt { path, why, .. }) => {
                self.doubts(&path, &why);
                CallVerdict::Unknown
            }
            None => CallVerdict::Same,
        }
    }

    pub(super) fn doubts(&self, path: &str, why: &str) {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        self.doubt.borrow_mut().get_or_insert_with(|| format!("{place}{why}"));
    }

    /// The pairs of texts that decide whether the calls are the same, where everything else is.
    pub(super) fn pairs(&self, wanted: &ExpectedUse<'_>, made: &ToolUse) -> Vec<FuzzyPair> {
        if self.names_decide && wanted.call.tool != made.tool {
            return Vec::new();
        }
        let (same, comparison) = self.compare(wanted, made, false);
        if same { comparison.fuzzy.into_iter().map(|(_, pair)| pair).collect() } else { Vec::new() }
    }

    /// All that differs.
    pub(super) fn differences(&self, wanted: &ExpectedUse<'_>, made: &ToolUse) -> Vec<CallDifference> {
        let (_, comparison) = self.compare(wanted, made, true);
        let mut found = comparison.found.unwrap_or_default();
        found.extend(comparison.unknown.into_iter().map(|ValueDoubt { path, why, .. }| CallDifference {
            path,
            expected: None,
            actual: None,
            why: Some(why),
        }));
        for (path, pair) in comparison.fuzzy {
            let decision = self.decide(&pair);
            if decision.same != Some(true) {
                let (expected, actual) = (Some(pair.expected.into()), Some(pair.actual.into()));
                found.push(CallDifference { path, expected, actual, why: Some(decision.who) });
            }
        }
        found
    }

    /// The parts of an expected call with which nothing can be compared: place and reason. The call is compared with itself.
    pub(super) fn unusable(&self, wanted: &ExpectedUse<'_>) -> Vec<(String, Unusable)> {
        let ExpectedCall { tool, args, result, .. } = wanted.call;
        let args = args.clone().unwrap_or_default();
        let itself = ToolUse { id: None, tool: tool.clone(), args, result: result.clone() };
        let (_, comparison) = self.compare(wanted, &itself, true);
        let unusable = |ValueDoubt { path, why, help }| Some((path, Unusable { why, help: help? }));
        comparison.unknown.into_iter().filter_map(unusable).collect()
    }

    /// The decisions about texts that count as the same, a sentence each.
    pub(super) fn decisions(&self, wanted: &ExpectedUse<'_>, made: &ToolUse) -> Vec<String> {
        let (_, comparison) = self.compare(wanted, made, false);
        let sentence = |(path, pair): &(String, FuzzyPair)| {
            let path = if path.is_empty() { "text" } else { path };
            format!("{path}: {:?} for {:?} · {}", pair.actual, pair.expected, self.decide(pair).who)
        };
        comparison.fuzzy.iter().map(sentence).collect()
    }

    pub(super) fn decide(&self, pair: &FuzzyPair) -> super::fuzzy::FuzzyDecision {
        let is_watsonx = self.matcher.mode.equality == Equality::Watsonx;
        decide(pair, self.answers, self.matcher.config.similarity, is_watsonx)
    }

    pub(super) fn comparison<'a>(&self, layers: Layers<'a>, collects: bool) -> ValueComparison<'a> {
        let mut comparison = ValueComparison::new(layers, collects);
        comparison.has_ignore_word = self.matcher.has_ignore_word;
        comparison.strict = self.matcher.config.strict;
        comparison.deadline = self.deadline;
        comparison
    }

    pub(super) fn layers<'a>(&'a self, wanted: &'a ExpectedUse<'_>, tool: Option<&'a CompiledTool>) -> Layers<'a> {
        Layers([wanted.rules.as_ref(), tool.map(|tool| &tool.paths), Some(&self.matcher.paths)])
    }

    fn compare<'a>(
        &'a self,
        wanted: &'a ExpectedUse<'_>,
        made: &ToolUse,
        collects: bool,
    ) -> (bool, ValueComparison<'a>) {
        let matcher = self.matcher;
        let tool = matcher.tool_rules(&made.tool, &wanted.call.tool);
        let mut same = true;
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        let has_same_name = match tool.and_then(|tool| tool.name.as_ref()) {
            None => wanted.call.tool == made.tool,
            Some(rule) => {
                let (expected, actual) = (Value::from(wanted.call.tool.as_str()), Value::from(made.tool.as_str()));
                let mode = Mode { fold: false, ..matcher.mode };
                let mut comparison = self.comparison(Layers::default(), false);
                let same = comparison.value(rule, &mode, &expected, &actual) && comparison.fuzzy.is_empty();
                let of_tool = |doubt| ValueDoubt { path: "tool".to_owned(), ..doubt };
                unknown.extend(comparison.unknown.into_iter().map(of_tool));
                same
            }
        };
        if !has_same_name {
            same = false;
            let (expected, actual) = (Some(wanted.call.tool.as_str().into()), Some(made.tool.as_str().into()));
            found.push(CallDifference { path: "tool".to_owned(), expected, actual, why: None });
        }
        let mut arguments =
            self.comparison(self.layers(wanted, tool), collects).shown_as(if collects { "args" } else { "" });
        if same || collects {
            same &= self.arguments(wanted, tool, made, &mut arguments);
        }
        if same || collects {
            let mut results =
                self.comparison(Layers::default(), collects).shown_as(if collects { "result" } else { "" });
            same &= self.result(wanted.call, tool, made, &mut results);
            arguments.fuzzy.append(&mut results.fuzzy);
            arguments.unknown.append(&mut results.unknown);
            found.extend(arguments.found.take().into_iter().flatten());
            found.extend(results.found.take().into_iter().flatten());
        }
        arguments.found = collects.then_some(found);
        arguments.unknown.append(&mut unknown);
        (same, arguments)
    }

    fn arguments(
        &self,
        wanted: &ExpectedUse<'_>,
        tool: Option<&CompiledTool>,
        made: &ToolUse,
        comparison: &mut ValueComparison<'_>,
    ) -> bool {
        let matcher = self.matcher;
        if !matcher.arguments {
            return true;
        }
        let rule = tool.and_then(|tool| tool.arguments.as_ref()).unwrap_or(&STRICT);
        if let Some(expected) = &wanted.call.args
            && !matcher.has_ignore_word
            && rule.is_plain()
            && comparison.layers.are_empty()
            && expected.is_written_as(&made.args)
        {
            return true;
        }
        let Some(expected) = wanted.call.args.as_deref().or(matcher.absent_is_null.then_some(&Value::Null)) else {
            return true;
        };
        if is_any(matcher, expected) {
            return true;
        }
        if (matcher.empty_is_null || matcher.has_ignore_word)
            && is_empty(expected)
            && is_empty(&made.args)
            && rule.kind == RuleKind::Strict
            && !rule.has_conditions()
        {
            return true;
        }
        let empty = Value::Object(Map::new());
        let is_null = |value: &Value| value.is_null() && (matcher.empty_is_null || matcher.has_ignore_word);
        if matcher.has_ignore_word && expected.is_null() {
            // None are expected, and there are some: further arguments are none.
            return comparison.value(&STRICT, &Mode { extra: false, ..matcher.mode }, &empty, &made.args);
        }
        let (expected, actual) =
            (if is_null(expected) { &empty } else { expected }, if is_null(&made.args) { &empty } else { &made.args });
        if matcher.mode.equality == Equality::Watsonx
            && let (Some(expected), Some(actual)) = (expected.as_object(), actual.as_object())
        {
            let mode = Mode { extra: true, ..matcher.mode };
            let (expected, actual) = (Value::Object(flattened(expected)), Value::Object(flattened(actual)));
            return comparison.flat(&mode, &expected, &actual);
        }
        comparison.value(rule, &matcher.mode, expected, actual)
    }

    fn result(
        &self,
        expected: &ExpectedCall,
        tool: Option<&CompiledTool>,
        made: &ToolUse,
        comparison: &mut ValueComparison<'_>,
    ) -> bool {
        let matcher = self.matcher;
        if !matcher.results {
            return true;
        }
        let Some(expected) = expected.result.as_deref().or(matcher.absent_is_null.then_some(&Value::Null)) else {
            return true;
        };
        let rule = tool.and_then(|tool| tool.result.as_ref()).unwrap_or(&STRICT);
        let mode = if matcher.has_ignore_word { Mode { extra: false, ..matcher.mode } } else { matcher.mode };
        comparison.value(rule, &mode, expected, made.result.as_deref().unwrap_or(&Value::Null))
    }
}

fn is_empty(args: &Value) -> bool {
    args.is_null() || args.as_object().is_some_and(Map::is_empty)
}

/// Whether the expected arguments stand for any: `{"IGNORE": null}`.
pub(super) fn is_any(matcher: &TrajectoryMatcher, expected: &Value) -> bool {
    let is_marked = |map: &Map<String, Value>| map.len() == 1 && map.get("IGNORE").is_some_and(Value::is_null);
    matcher.has_ignore_word && expected.as_object().is_some_and(is_marked)
}
