//! The options of ROUGE in a job file.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::measured::{MeasureProblem, problem};
use crate::score::Score;
use crate::text::Tokenizer;

/// How much of the expected reply's wording the actual one has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "rouge")]
pub struct RougeConfig {
    /// The compared parts: `rouge1` words, `rouge2` pairs of words and so on, `rougeL` the longest common sequence of words,
    /// `rougeLsum` that of each sentence.
    #[serde(rename = "type")]
    #[schemars(with = "String", regex(pattern = r"^rouge([1-9][0-9]*|L|Lsum)$"))]
    pub rouge_type: RougeType,
    /// Which of the three numbers is the score: `f1` by default.
    pub measure: RougeMeasure,
    /// The least value of each of the three numbers; with it, the score is 1 where all do, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<RougeMinimum>,
    /// Whether a number that is lower than its least value by less than 1e-9 is too low, as trpc-agent-go has it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exact_minimum: bool,
    /// How texts are divided into words.
    pub tokenizer: Tokenizer,
    /// Compares stems, so that `runs` and `running` are the same word; English only.
    pub use_stemmer: bool,
    /// Splits texts into sentences for `rougeLsum`; without it, each line is one.
    pub split_summaries: bool,
    /// Scores 0 for a turn of which no reply is expected, as ADK does; without it, such a turn does not count.
    pub absent_is_zero: bool,
    /// The replies of which the most similar one counts; without any, the reply that the case expects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
}

impl RougeConfig {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// The options ask for nothing.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        match self.minimum {
            Some(RougeMinimum { precision: None, recall: None, f1: None }) => {
                problem("`minimum` is empty: give `precision`, `recall` or `f1`, or leave it out")
            }
            _ => Ok(()),
        }
    }
}

/// What of two texts is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RougeType {
    /// Sequences of so many words, 1 or more.
    N(usize),
    /// The longest common sequence of words.
    L,
    /// The longest common sequences of the sentences.
    Lsum,
}

impl Default for RougeType {
    fn default() -> RougeType {
        RougeType::N(1)
    }
}

impl FromStr for RougeType {
    type Err = MeasureProblem;

    fn from_str(text: &str) -> Result<RougeType, MeasureProblem> {
        let rest = text.strip_prefix("rouge").unwrap_or_default();
        match rest {
            "L" => Ok(RougeType::L),
            "Lsum" => Ok(RougeType::Lsum),
            _ => match rest.parse() {
                Ok(n) if n > 0 && rest.bytes().all(|it| it.is_ascii_digit()) => Ok(RougeType::N(n)),
                _ => problem(format!("`{text}` is no type of ROUGE: try rouge1, rouge2, rougeL or rougeLsum")),
            },
        }
    }
}

impl TryFrom<String> for RougeType {
    type Error = MeasureProblem;

    fn try_from(text: String) -> Result<RougeType, MeasureProblem> {
        text.parse()
    }
}

impl From<RougeType> for String {
    fn from(rouge_type: RougeType) -> String {
        rouge_type.to_string()
    }
}

impl fmt::Display for RougeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RougeType::N(n) => write!(f, "rouge{n}"),
            RougeType::L => f.write_str("rougeL"),
            RougeType::Lsum => f.write_str("rougeLsum"),
        }
    }
}

/// One of the three numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RougeMeasure {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// How much of the actual reply is in the expected one.
    Precision,
    /// How much of the expected reply is in the actual one.
    Recall,
}

impl RougeMeasure {
    /// As a job spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            RougeMeasure::F1 => "f1",
            RougeMeasure::Precision => "precision",
            RougeMeasure::Recall => "recall",
        }
    }
}

/// The least value of each of the three numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RougeMinimum {
    /// How much of the actual reply must be in the expected one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub precision: Option<Score>,
    /// How much of the expected reply must be in the actual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub recall: Option<Score>,
    /// The least value of the harmonic mean of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub f1: Option<Score>,
}
