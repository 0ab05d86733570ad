//! Compares two values by rules: the arguments of two calls, or their results.

mod lists;
mod texts;

use serde_json::{Map, Value};

use super::compiled::{CompiledRule, Layers, STRICT};
use super::equality::{self, Equality, Mode};
use super::fuzzy::FuzzyPair;
use super::normal::{IGNORE_WORD, normalised};
use super::rule::{PathTree, RuleKind};
use crate::clock::Deadline;
use crate::metric::json::HIDDEN_DIGITS;
use crate::metric::measured::Unusable;

/// One place in which two values differ.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDifference {
    /// Where: `args.city`, `result`.
    pub path: String,
    /// The expected value; `None` where there is none.
    pub expected: Option<Value>,
    /// The actual value; `None` where there is none.
    pub actual: Option<Value>,
    /// In which way they differ, where it is not plain to see.
    pub why: Option<String>,
}

/// Values of which it is not known whether they are as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueDoubt {
    /// Where.
    pub(super) path: String,
    /// Why, in a sentence.
    pub(super) why: String,
    /// A hint, where nothing can be compared with the expected value: a pattern that is none.
    pub(super) help: Option<&'static str>,
}

/// A comparison of two values. It stops at the first difference unless all are wanted.
pub(super) struct ValueComparison<'a> {
    /// The rules of the paths.
    pub(super) layers: Layers<'a>,
    /// Whether the word for any value is one.
    pub(super) has_ignore_word: bool,
    /// Whether the original's own answer is given.
    pub(super) strict: bool,
    /// All differences, where they are collected.
    pub(super) found: Option<Vec<CallDifference>>,
    /// Pairs of texts that a judge or embeddings decide on, with their paths.
    pub(super) fuzzy: Vec<(String, FuzzyPair)>,
    /// The part that is not known, although nothing else differs.
    pub(super) unknown: Vec<ValueDoubt>,
    /// Until when scripts may run; without it none does.
    pub(super) deadline: Option<Deadline>,
    /// The path so far; elements of lists have none.
    path: String,
    /// The path with the places in lists.
    shown: String,
}

impl<'a> ValueComparison<'a> {
    pub(super) fn new(layers: Layers<'a>, collects: bool) -> ValueComparison<'a> {
        ValueComparison {
            layers,
            has_ignore_word: false,
            strict: false,
            found: collects.then(Vec::new),
            fuzzy: Vec::new(),
            unknown: Vec::new(),
            deadline: None,
            path: String::new(),
            shown: String::new(),
        }
    }

    /// The first part of the path where it is shown.
    pub(super) fn shown_as(mut self, root: &str) -> ValueComparison<'a> {
        self.shown = root.to_owned();
        self
    }

    /// It begins at this path.
    pub(super) fn at_path(mut self, path: &str) -> ValueComparison<'a> {
        path.clone_into(&mut self.path);
        self
    }

    /// Compares mappings whose keys are whole paths.
    pub(super) fn flat(&mut self, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::Object(wanted), Value::Object(made)) => self.entries(&STRICT, None, mode, wanted, made),
            _ => true,
        }
    }

    fn differs(&mut self, expected: Option<&Value>, actual: Option<&Value>, why: Option<String>) -> bool {
        if let Some(found) = &mut self.found {
            let path = self.shown.clone();
            found.push(CallDifference { path, expected: expected.cloned(), actual: actual.cloned(), why });
        }
        false
    }

    /// Whether to go on after a difference.
    fn goes_on(&self) -> bool {
        self.found.is_some()
    }

    fn within<T>(&mut self, key: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        if self.layers.are_empty() && self.found.is_none() && !self.strict {
            return look(self);
        }
        let (path, shown) = (self.path.len(), self.shown.len());
        for text in [&mut self.path, &mut self.shown] {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(key);
        }
        let result = look(self);
        self.path.truncate(path);
        self.shown.truncate(shown);
        result
    }

    fn at_index<T>(&mut self, index: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        let shown = self.shown.len();
        if self.found.is_some() {
            self.shown.push_str(&format!("[{index}]"));
        }
        let result = look(self);
        self.shown.truncate(shown);
        result
    }

    /// Whether the values agree by a rule, up to the texts in `fuzzy`.
    pub(super) fn value(&mut self, rule: &CompiledRule, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        let mode = &rule.mode(mode);
        if rule.kind == RuleKind::Ignore && rule.compares {
            return !self.layers.have_below(&self.path) || self.parts(rule, mode, expected, actual);
        }
        if self.has_ignore_word && expected.as_str() == Some(IGNORE_WORD) {
            return true;
        }
        if let Some(why) = self.broken_condition(rule, actual) {
            if !self.goes_on() {
                return false;
            }
            self.differs(Some(expected), Some(actual), Some(why));
        }
        if let Some(script) = &rule.compare
            && !self.holds_by(script, expected, actual)
            && !self.goes_on()
        {
            return false;
        }
        if !rule.compares {
            return self.found.as_ref().is_none_or(Vec::is_empty);
        }
        if let Some(only) = &rule.only {
            return self.only(only, mode, expected, actual);
        }
        match rule.kind {
            RuleKind::Strict | RuleKind::Optional | RuleKind::Ignore => {
                if rule.kind == RuleKind::Optional && self.strict && mode.equality == Equality::Watsonx {
                    let same = equality::python(expected, actual);
                    self.doubt_digits(mode, expected, actual, same);
                    return same || self.differs(Some(expected), Some(actual), None);
                }
                self.equal(rule, rule.ignore.as_ref(), mode, expected, actual)
            }
            RuleKind::Contains => self.contains(mode, expected, actual),
            RuleKind::Regex => self.matches(mode, expected, actual),
            RuleKind::Date => self.same_date(mode, expected, actual),
            RuleKind::Fuzzy => self.alike(rule, mode, expected, actual),
        }
    }

    /// Only the parts of a mapping that have a rule of their own.
    fn parts(&mut self, rule: &CompiledRule, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        let empty = Map::new();
        let Some(wanted) = expected.as_object() else { return true };
        self.entries(rule, None, mode, wanted, actual.as_object().unwrap_or(&empty))
    }

    fn equal(
        &mut self,
        rule: &CompiledRule,
        ignore: Option<&PathTree>,
        mode: &Mode,
        expected: &Value,
        actual: &Value,
    ) -> bool {
        match (expected, actual) {
            (Value::Object(wanted), Value::Object(made)) if !(self.strict && mode.equality == Equality::Watsonx) => {
                self.entries(rule, ignore, mode, wanted, made)
            }
            // In watsonx Orchestrate's dialect null is absent.
            (Value::Object(_), Value::Null)
                if self.has_ignore_word && !self.strict && self.parts_may_be_absent(rule, expected) =>
            {
                true
            }
            (Value::Array(wanted), Value::Array(made)) if mode.equality != Equality::Watsonx => {
                self.lists(rule, ignore, mode, wanted, made, (expected, actual))
            }
            _ => {
                let same = match mode.equality {
                    Equality::Watsonx => normalised(expected) == normalised(actual),
                    _ => equality::plain(mode, expected, actual),
                };
                self.doubt_digits(mode, expected, actual, same);
                same || self.differs(Some(expected), Some(actual), None)
            }
        }
    }

    /// Two values that look the same may differ in digits that are not known. In watsonx's own dialect they are the same, as 1e22 is.
    pub(super) fn doubt_digits(&mut self, mode: &Mode, expected: &Value, actual: &Value, same: bool) {
        let is_its_own = self.strict && mode.equality == Equality::Watsonx;
        if same && !is_its_own && equality::may_hide_digits(mode, expected, actual) {
            let why = format!("{HIDDEN_DIGITS}; give a tolerance such as `number: 1`");
            self.doubts(why);
        }
    }

    /// Whether the values here are as expected is not known.
    pub(super) fn doubts(&mut self, why: impl Into<String>) {
        self.unknown.push(ValueDoubt { path: self.shown.clone(), why: why.into(), help: None });
    }

    /// Handles an expectation that no value can be compared with: strict dialects call it a difference.
    fn unusable(&mut self, expected: &Value, actual: &Value, Unusable { why, help }: Unusable) -> bool {
        if self.strict {
            return self.differs(Some(expected), Some(actual), Some(why));
        }
        self.unknown.push(ValueDoubt { path: self.shown.clone(), why, help: Some(help) });
        true
    }

    fn entries(
        &mut self,
        rule: &CompiledRule,
        ignore: Option<&PathTree>,
        mode: &Mode,
        wanted: &Map<String, Value>,
        made: &Map<String, Value>,
    ) -> bool {
        let below = |key: &str| ignore.and_then(|tree| tree.keys.get(key));
        let (mut same, mut known) = (true, 0);
        let inherited = rule.inherited();
        let is_bare = self.layers.are_empty();
        // Most keys are where they are expected: look there first.
        let mut beside = made.iter();
        for (key, expected) in wanted {
            let found = match beside.next() {
                Some((next, actual)) if next == key => Some(actual),
                _ => made.get(key),
            };
            known += usize::from(found.is_some());
            if below(key).is_some_and(|tree| tree.is_whole) {
                continue;
            }
            let holds = self.within(key, |it| {
                let of_parent =
                    if is_bare { None } else { it.layers.parent_kind(&it.path).map(CompiledRule::from_kind) };
                let exact = if is_bare { None } else { it.layers.exact(&it.path) };
                let rule = exact.or(of_parent).unwrap_or(inherited);
                match found {
                    Some(actual) => match (below(key), rule.ignore.is_none() && rule.only.is_none()) {
                        (Some(tree), true) if rule.kind == RuleKind::Strict => {
                            it.equal(rule, Some(tree), mode, expected, actual)
                        }
                        _ => it.value(rule, mode, expected, actual),
                    },
                    None => it.absent(rule, mode, expected),
                }
            });
            same &= holds;
            if !same && !self.goes_on() {
                return false;
            }
        }
        if mode.extra || (known == made.len() && same && !self.goes_on()) {
            return same;
        }
        for (key, actual) in made.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
            if below(key).is_some_and(|tree| tree.is_whole) {
                continue;
            }
            let holds = self.within(key, |it| it.layers.may_differ(&it.path) || it.differs(None, Some(actual), None));
            same &= holds;
            if !same && !self.goes_on() {
                return false;
            }
        }
        same
    }

    /// Whether a value may be absent.
    fn absent(&mut self, rule: &CompiledRule, mode: &Mode, expected: &Value) -> bool {
        let may = matches!(rule.kind, RuleKind::Ignore | RuleKind::Optional);
        let is_any = self.has_ignore_word && expected.as_str() == Some(IGNORE_WORD);
        if (may || is_any) && self.layers.have_below(&self.path) {
            return self.parts(rule, mode, expected, &Value::Null);
        }
        may || is_any || self.parts_may_be_absent(rule, expected) || self.differs(Some(expected), None, None)
    }

    /// Whether each part of a mapping may be absent by a rule of its own, so that the whole may be.
    pub(super) fn parts_may_be_absent(&mut self, rule: &CompiledRule, expected: &Value) -> bool {
        let Some(parts) = expected.as_object().filter(|parts| !parts.is_empty()) else { return false };
        if self.layers.are_empty() && !self.has_ignore_word {
            return false;
        }
        parts.iter().all(|(key, part)| {
            self.within(key, |it| {
                let of_parent = it.layers.parent_kind(&it.path).map(CompiledRule::from_kind);
                let rule = it.layers.exact(&it.path).or(of_parent).unwrap_or(rule.inherited());
                let is_any = it.has_ignore_word && part.as_str() == Some(IGNORE_WORD);
                let may = is_any || matches!(rule.kind, RuleKind::Ignore | RuleKind::Optional);
                may && !it.layers.have_below(&it.path) || it.parts_may_be_absent(rule, part)
            })
        })
    }

    /// Compares the selected parts. Each must be in both.
    fn only(&mut self, tree: &PathTree, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        if tree.is_whole {
            return self.equal(&STRICT, None, mode, expected, actual);
        }
        match (expected, actual) {
            (Value::Object(wanted), Value::Object(made)) => {
                let mut same = true;
                for (key, tree) in &tree.keys {
                    same &= self.within(key, |it| match (wanted.get(key), made.get(key)) {
                        (Some(expected), Some(actual)) => it.only(tree, mode, expected, actual),
                        (None, None) => it.differs(None, None, Some("neither has it".to_owned())),
                        (expected, actual) => it.differs(expected, actual, None),
                    });
                    if !same && !self.goes_on() {
                        return false;
                    }
                }
                same
            }
            (Value::Array(wanted), Value::Array(made)) if mode.into_lists && wanted.len() == made.len() => {
                let mut same = true;
                for (index, (expected, actual)) in wanted.iter().zip(made).enumerate() {
                    same &= self.at_index(index, |it| it.only(tree, mode, expected, actual));
                }
                same
            }
            _ => self.equal(&STRICT, None, mode, expected, actual),
        }
    }
}
