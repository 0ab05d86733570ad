//! The comparisons that are no equality: conditions, texts within texts, patterns, dates, and what means the same.

use serde_json::Value;

use super::ValueComparison;
use crate::metric::json::{HIDDEN_DIGITS, is_beyond_64_bits};
use crate::metric::measured::{Unusable, shown};
use crate::metric::pattern::{self, PATTERN_HELP};
use crate::metric::re2;
use crate::metric::trajectory::compiled::{CompiledRule, Layers, STRICT};
use crate::metric::trajectory::date::PartialDateTime;
use crate::metric::trajectory::equality::{self, Equality, Mode, text_of};
use crate::metric::trajectory::fuzzy::FuzzyPair;
use crate::metric::trajectory::normal::{normalised, python_float};
use crate::metric::trajectory::rule::RuleKind;
use crate::script::ScriptText;
use crate::text::{lowered, without_dots};

impl ValueComparison<'_> {
    /// The condition beside the comparison that does not hold.
    pub(super) fn broken_condition(&self, rule: &CompiledRule, actual: &Value) -> Option<String> {
        let mut document = None;
        if rule.valid
            && let Some(text) = actual.as_str()
        {
            match serde_json::from_str::<Value>(text) {
                Ok(value) => document = Some(value),
                Err(error) => return Some(format!("the text is no JSON document: {error}")),
            }
        }
        if let Some(length) = rule.length {
            let characters = text_of(actual).chars().count() as u64;
            if !length.holds(characters) {
                return Some(format!("its length is {characters}, which is out of bounds"));
            }
        }
        let violations = rule.schema.as_ref()?.violations(document.as_ref().unwrap_or(actual));
        (!violations.is_empty()).then(|| violations.join("; "))
    }

    /// Whether a script takes the values for the same. What it can't tell is left open.
    pub(super) fn holds_by(&mut self, script: &ScriptText, expected: &Value, actual: &Value) -> bool {
        let Some(deadline) = self.deadline else {
            self.doubts("the script was not run");
            return true;
        };
        match script.holds(expected, actual, deadline) {
            Ok(true) => true,
            Ok(false) => self.differs(Some(expected), Some(actual), Some("by its script".to_owned())),
            Err(why) => {
                self.doubts(format!("its script could not tell: {why}"));
                true
            }
        }
    }

    pub(super) fn contains(&mut self, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        let holds = match (expected, actual) {
            (Value::Object(_), Value::Object(_)) => {
                return self.equal(&STRICT, None, &Mode { extra: true, ..*mode }, expected, actual);
            }
            (wanted, Value::Array(made)) => {
                let wanted = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
                let mut doubts = Vec::new();
                let mut is_there = |expected: &Value| {
                    let mut doubt = None;
                    for (index, actual) in made.iter().enumerate() {
                        let shown = format!("{}[{index}]", self.shown);
                        let mut probe = ValueComparison::new(Layers::default(), false).shown_as(&shown);
                        match probe.value(&STRICT, mode, expected, actual).then(|| probe.unknown.pop()) {
                            Some(None) => return true,
                            Some(unknown) => doubt = doubt.take().or(unknown),
                            None => {}
                        }
                    }
                    let may_be_there = doubt.is_some();
                    doubts.extend(doubt);
                    may_be_there
                };
                let holds = wanted.iter().all(&mut is_there);
                if holds {
                    self.unknown.append(&mut doubts);
                }
                holds
            }
            (Value::Number(_), Value::Number(_)) if equality::plain(mode, expected, actual) => {
                self.doubt_digits(mode, expected, actual, true);
                true
            }
            _ if self.doubts_spelling(expected, actual) => true,
            _ => {
                let (expected, actual) = (text_of(expected), text_of(actual));
                let cased = |text: &str| equality::cased(mode, text);
                match mode.fold {
                    true => cased(&actual).contains(&cased(&expected)),
                    false => actual.contains(&expected),
                }
            }
        };
        holds || self.differs(Some(expected), Some(actual), Some("does not contain it".to_owned()))
    }

    /// Handles a number that is compared as text, whose original digits are unknown; false for others.
    fn doubts_spelling(&mut self, expected: &Value, actual: &Value) -> bool {
        let is_unknown = !self.strict && (is_beyond_64_bits(expected) || is_beyond_64_bits(actual));
        if is_unknown {
            self.doubts(HIDDEN_DIGITS);
        }
        is_unknown
    }

    pub(super) fn matches(&mut self, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        let (mut pattern, mut text) = (text_of(expected), text_of(actual));
        if mode.fold && mode.folds_patterns {
            (pattern, text) = (lowered(&pattern), lowered(&text));
        }
        if mode.fold && !mode.folds_patterns {
            (pattern, text) = (without_dots(&pattern), without_dots(&text));
        }
        if mode.re2 {
            pattern = re2::translated(&pattern, self.strict);
        }
        match pattern::pattern(&pattern, mode.fold && !mode.folds_patterns) {
            Ok(_) if self.doubts_spelling(expected, actual) => true,
            Ok(regex) if regex.is_match(&text) => true,
            Ok(_) => self.differs(Some(expected), Some(actual), Some("the pattern is not in it".to_owned())),
            Err(why) => {
                let why = format!("the expected text {why}");
                self.unusable(expected, actual, Unusable { why, help: PATTERN_HELP })
            }
        }
    }

    pub(super) fn same_date(&mut self, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        if let (Value::Object(wanted), Value::Object(made)) = (expected, actual) {
            return self.entries(CompiledRule::from_kind(RuleKind::Date), None, mode, wanted, made);
        }
        match (PartialDateTime::parse(&text_of(expected)), PartialDateTime::parse(&text_of(actual))) {
            (Some(wanted), Some(made)) if wanted.is_same(&made) => true,
            (Some(_), Some(_)) => self.differs(Some(expected), Some(actual), Some("another date".to_owned())),
            (None, _) => {
                let why = format!("the expected text {} is no date", shown(&text_of(expected)));
                self.unusable(expected, actual, Unusable { why, help: "write it as 2026-03-28 or March 28, 2026" })
            }
            (_, None) => self.differs(Some(expected), Some(actual), Some("it is no date".to_owned())),
        }
    }

    /// Numbers and dates are compared here; other texts are left to a judge or embeddings.
    pub(super) fn alike(&mut self, rule: &CompiledRule, mode: &Mode, expected: &Value, actual: &Value) -> bool {
        let is_watsonx = mode.equality == Equality::Watsonx;
        let shape = |value: &Value| (value.is_object(), value.is_array());
        if !self.strict && shape(expected) != shape(actual) {
            return self.differs(Some(expected), Some(actual), None);
        }
        match (expected, actual) {
            (Value::Object(wanted), Value::Object(made)) => return self.entries(rule, None, mode, wanted, made),
            (Value::Array(wanted), Value::Array(made)) if !is_watsonx => {
                return self.lists(rule, None, mode, wanted, made, (expected, actual));
            }
            _ => {}
        }
        let text = |value: &Value| if is_watsonx { text_of(&normalised(value)) } else { text_of(value) };
        let (wanted, made) = (text(expected), text(actual));
        let number = |text: &str| if is_watsonx { python_float(text) } else { text.trim().parse().ok() };
        let whole = if self.strict { None } else { equality::same_whole(&wanted, &made) };
        let decided = match (number(&wanted), number(&made)) {
            _ if whole.is_some() => whole,
            (Some(a), Some(b)) => Some((a - b).abs() <= 0.001),
            _ if !is_watsonx && equality::plain(&Mode { fold: true, ..*mode }, expected, actual) => Some(true),
            _ => match (PartialDateTime::parse(&wanted), PartialDateTime::parse(&made)) {
                (Some(a), Some(b)) => Some(a.is_same(&b)),
                _ => None,
            },
        };
        match decided {
            Some(true) => {
                self.doubt_digits(mode, expected, actual, true);
                true
            }
            Some(false) => self.differs(Some(expected), Some(actual), Some("another number or date".to_owned())),
            None => {
                let pair = FuzzyPair { expected: wanted, actual: made };
                self.fuzzy.push((self.shown.clone(), pair));
                true
            }
        }
    }
}
