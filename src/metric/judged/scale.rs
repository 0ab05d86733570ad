//! The scales by which a judge decides, and its verdicts.

use serde_json::{Value, json};

use super::{Citations, JudgeOptions, UnknownVerdict};
use crate::score::{Component, Score};

/// The scale by which a judge decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Whether it holds.
    YesNo,
    /// Whether the evidence supports it.
    Support,
    /// A whole number from 0 to 10.
    Ten,
}

/// Whether the evidence supports a sentence: the labels of ADK and trpc-agent-go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It follows from the evidence.
    Supported,
    /// Nothing in the evidence says so.
    Unsupported,
    /// The evidence says otherwise.
    Contradictory,
    /// Some of the evidence says so and some otherwise.
    Disputed,
    /// It states nothing.
    NotApplicable,
}

impl Support {
    /// The label of this name, whatever its case; `None` for any other text.
    pub fn parse(label: &str) -> Option<Support> {
        Some(match label.trim().to_lowercase().replace([' ', '-'], "_").as_str() {
            "supported" => Support::Supported,
            "unsupported" => Support::Unsupported,
            "contradictory" => Support::Contradictory,
            "disputed" => Support::Disputed,
            "not_applicable" | "notapplicable" => Support::NotApplicable,
            _ => return None,
        })
    }

    /// 1 where nothing speaks against the sentence, as both systems count it.
    pub fn score(self) -> Score {
        Score::from_bool(matches!(self, Support::Supported | Support::NotApplicable))
    }
}

/// A judge's verdict on one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemVerdict {
    /// The item's id.
    pub id: String,
    /// Its subject, where the judge found it itself.
    pub found: Option<String>,
    /// The judge's reason: untrusted text.
    pub reason: String,
    /// Its evidence.
    pub citations: Citations,
    /// The label, where it is one of support.
    pub label: Option<Support>,
    /// The score, `None` where the item does not apply; an error where the verdict can't be used.
    pub decision: Result<Option<Score>, VerdictError>,
}

/// A verdict that can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VerdictError {
    /// The decision can't be read.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// The evidence does not support it: a sentence for the judge.
    #[error("{0}")]
    Evidence(String),
}

/// A decision that can't be read. The message completes "The verdict on A …".
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecisionError {
    /// There is no label.
    #[error("has no label")]
    NoLabel,
    /// There is no verdict.
    #[error("has no verdict")]
    NoVerdict,
    /// The verdict is neither yes nor no, and does not say that the item does not apply.
    #[error("has the verdict {0}, which is none of yes, no and notApplicable")]
    NotYesNo(Value),
    /// The verdict is no label of support.
    #[error("has the verdict {0}, which is none of supported, unsupported, contradictory, disputed and notApplicable")]
    NotSupport(Value),
    /// The score is no number.
    #[error("has the score {0}, which is not a number")]
    NotANumber(Value),
    /// The score is a fraction.
    #[error("has the score {0}, which is not a whole number from 0 to 10")]
    NotWhole(f64),
    /// The score is below 0 or above 10.
    #[error("has the score {0}, which is not from 0 to 10")]
    OutOfRange(f64),
}

impl Scale {
    /// The name by which templates know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scale::YesNo => "yesNo",
            Scale::Support => "support",
            Scale::Ten => "ten",
        }
    }

    /// The key of a decision in a reply.
    pub(super) fn key(self) -> &'static str {
        if self == Scale::Ten { "score" } else { "verdict" }
    }

    /// The JSON Schema of a decision.
    pub(super) fn schema(self) -> Value {
        match self {
            Scale::YesNo => json!({ "type": "string", "enum": ["yes", "no", "notApplicable"] }),
            Scale::Support => json!({
                "type": "string",
                "enum": ["supported", "unsupported", "contradictory", "disputed", "notApplicable"],
            }),
            Scale::Ten => json!({ "type": "integer", "description": "From 0 (not at all) to 10 (fully)." }),
        }
    }

    /// Reads a decision: a score, or `None` where the item does not apply. In the dialect of other systems a sentence that states
    /// nothing counts as supported.
    ///
    /// # Errors
    /// The value is none of this scale.
    pub(super) fn read(self, value: &Value, options: &JudgeOptions) -> Result<Option<Score>, DecisionError> {
        match self.known(value, options) {
            Err(_) if options.unknown() == UnknownVerdict::Holds && self != Scale::Ten => Ok(Some(Score::ONE)),
            Err(_) if options.unknown() == UnknownVerdict::Fails && self == Scale::YesNo => Ok(Some(Score::ZERO)),
            read => read,
        }
    }

    fn known(self, value: &Value, options: &JudgeOptions) -> Result<Option<Score>, DecisionError> {
        let strict = options.strict;
        let word = value.as_str().unwrap_or_default().trim().to_lowercase();
        // Other systems read the word that leads; here it stands alone.
        let leads = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_');
        let leading = if strict { word.split(leads).next() } else { None };
        let decided = leading.filter(|word| matches!(*word, "yes" | "no")).unwrap_or(word.trim_end_matches(['.', '!']));
        match self {
            Scale::YesNo => match decided {
                "yes" => Ok(Some(Score::ONE)),
                "no" => Ok(Some(Score::ZERO)),
                "notapplicable" | "not_applicable" | "n/a" if options.unknown() != UnknownVerdict::Holds => Ok(None),
                _ => Err(DecisionError::NotYesNo(value.clone())),
            },
            Scale::Support => match Support::parse(&word) {
                Some(Support::NotApplicable) if !strict => Ok(None),
                Some(label) => Ok(Some(label.score())),
                None => Err(DecisionError::NotSupport(value.clone())),
            },
            Scale::Ten => {
                let written = value.as_str().and_then(|text| text.trim().parse::<f64>().ok());
                let number = value.as_f64().or(written).ok_or_else(|| DecisionError::NotANumber(value.clone()))?;
                let in_range = (0.0..=10.0).contains(&number);
                let score = Score::new(number / 10.0).filter(|_| in_range).ok_or(DecisionError::OutOfRange(number))?;
                // 0.9 is likely meant on a scale from 0 to 1.
                if strict || number.fract() == 0.0 { Ok(Some(score)) } else { Err(DecisionError::NotWhole(number)) }
            }
        }
    }

    /// A decision in words.
    pub(super) fn component(self, decision: Option<Score>, reason: &str) -> Component {
        match decision {
            Some(score) => Component::scored(score, reason),
            None => Component::not_applicable(reason),
        }
    }
}
