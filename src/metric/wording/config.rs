//! The options of a reply's wording in a job file.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TextMeasure;
use crate::metric::measured::{MeasureProblem, problem};
use crate::metric::re2;
use crate::text::{lowered, without_dots};

/// Whether a reply is, contains or matches a text, and how long it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "text")]
pub struct TextConfig {
    /// How the reply is compared with the expected text.
    #[serde(rename = "match")]
    pub text_match: TextMatch,
    /// The text or pattern; without it, the reply that the case expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Whether upper and lower case are the same.
    pub case_insensitive: bool,
    /// How long the reply must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthConfig>,
    /// Answers as trpc-agent-go does: with `caseInsensitive`, the pattern itself is put into lower case, `\D` too; and `\w` and
    /// the like know English only.
    pub strict: bool,
    /// Whether a pattern is read as Go reads it, with the signs of RE2.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub re2: bool,
}

impl TextConfig {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// The options ask for nothing, the length is impossible, or the pattern is none.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        TextMeasure::new(self).map(drop)
    }

    /// The expected text as a pattern.
    pub(in crate::metric) fn pattern(&self, pattern: &str) -> Result<Regex, MeasureProblem> {
        let cased = self.case_insensitive.then(|| if self.strict { lowered(pattern) } else { without_dots(pattern) });
        let cased = cased.as_deref().unwrap_or(pattern);
        let spelled = (self.strict || self.re2).then(|| re2::translated(cased, self.strict));
        crate::metric::pattern::pattern(spelled.as_deref().unwrap_or(cased), self.case_insensitive && !self.strict)
    }
}

/// How a reply is compared with a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TextMatch {
    /// It is the same.
    #[default]
    Exact,
    /// The reply contains the text.
    Contains,
    /// The text is a regular expression that is found anywhere in the reply.
    Regex,
    /// Not at all: only the length counts.
    Skip,
}

/// How long a text must be, in Unicode code points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "length")]
pub struct LengthConfig {
    /// At least so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// At most so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

impl LengthConfig {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// There is no bound, or no length is within them.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        match (self.min, self.max) {
            (None, None) => problem("`length` has no bound: give `min`, `max` or both"),
            (Some(min), Some(max)) if min > max => {
                problem(format!("no length is within `length`: min {min} is more than max {max}"))
            }
            _ => Ok(()),
        }
    }
}

/// Which words a reply must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "keywords")]
pub struct KeywordsConfig {
    /// The keywords; without any, those that the case expects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Whether all must be there or one is enough.
    pub need: KeywordsNeed,
    /// Whether a keyword must be a whole word: `art` is not in `party`. In scripts without spaces any part is a word.
    pub whole_words: bool,
    /// Whether upper and lower case are the same.
    pub case_insensitive: bool,
}

impl Default for KeywordsConfig {
    fn default() -> KeywordsConfig {
        KeywordsConfig { keywords: Vec::new(), need: KeywordsNeed::All, whole_words: true, case_insensitive: true }
    }
}

impl KeywordsConfig {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// A keyword is empty.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        match self.keywords.iter().any(|it| it.trim().is_empty()) {
            true => problem("`keywords` has an empty one, which is in every text"),
            false => Ok(()),
        }
    }
}

/// How many of the keywords a reply must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeywordsNeed {
    /// All of them.
    #[default]
    All,
    /// One of them.
    Any,
}
