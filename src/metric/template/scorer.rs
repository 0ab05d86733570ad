//! How the reply to a user's own prompt is read: trpc-agent-go's response scorers.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::evidence::ReplySchema;
use crate::score::Score;
use crate::text::{contradiction, unfenced, visible};

/// A label that a judge may choose, with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Category {
    /// The label.
    #[schemars(regex(pattern = r"\S"))]
    pub label: String,
    /// Its score, 0 to 1.
    #[schemars(with = "f64", range(min = 0, max = 1))]
    pub score: Score,
}

/// The shape of a reply, and its score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TemplateScorer {
    /// `{"reason": "…", "score": 0.7}`, 0 to 1.
    #[default]
    SingleScore,
    /// `{"reason": "…", "passed": true}`.
    Boolean,
    /// `{"reason": "…", "category": "…"}`, one of these labels.
    Categorical(Vec<Category>),
    /// `{"rubricScores": [{"id": "…", "reason": "…", "score": 1}]}`, one for each of these rubrics. Where none is named: one for each
    /// of the metric's, the case's and the turn's; any where there are none.
    RubricScores(Vec<String>),
}

/// Why a reply gives no score: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScorerReplyError {
    /// It is not JSON: the parser's error.
    #[error("The reply is not JSON ({0}).")]
    NotJson(String),
    /// A key stands twice in one object, with different values.
    #[error("The reply says `{}` twice in one object, and differently.", visible(.0))]
    Contradiction(String),
    /// A part of it is missing, or of another type.
    #[error("The {0} is required.")]
    Missing(&'static str),
    /// A score is below 0 or above 1.
    #[error("The score must be between 0 and 1.")]
    OutOfRange,
    /// The label is none of the categories.
    #[error("The category \"{}\" is none of {}.", visible(label), labels.join(", "))]
    UnknownCategory {
        /// The label, as the judge wrote it: untrusted text.
        label: String,
        /// The labels that it could choose from.
        labels: Vec<String>,
    },
    /// A score of a rubric names none.
    #[error("Each rubric score needs an id.")]
    NoRubricId,
    /// A rubric is scored twice.
    #[error("The rubric {0} has more than one score.")]
    RubricTwice(String),
    /// Other rubrics are scored than those of the question.
    #[error("The rubric scores are those of {}, not of {}.", given.join(", "), wanted.join(", "))]
    OtherRubrics {
        /// The ids of the reply.
        given: Vec<String>,
        /// The ids of the question.
        wanted: Vec<String>,
    },
}

/// The score of a reply, with its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorerReading {
    /// The score.
    pub score: Score,
    /// The judge's reason: untrusted text.
    pub reason: String,
    /// The label of a category.
    pub label: Option<String>,
}

impl TemplateScorer {
    /// The shape of the reply, where so many rubrics are shown.
    pub fn schema(&self, rubrics: usize) -> ReplySchema {
        let reason = json!({ "type": "string" });
        let object = |properties: Value, required: [&str; 2]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
        let (name, schema, entries) = match self {
            TemplateScorer::SingleScore => {
                let properties = json!({ "reason": reason, "score": { "type": "number" } });
                ("single_score_result", object(properties, ["reason", "score"]), 1)
            }
            TemplateScorer::Boolean => {
                let properties = json!({ "reason": reason, "passed": { "type": "boolean" } });
                ("boolean_result", object(properties, ["reason", "passed"]), 1)
            }
            TemplateScorer::Categorical(categories) => {
                let labels: Vec<&str> = categories.iter().map(|category| category.label.as_str()).collect();
                let properties = json!({ "reason": reason, "category": { "type": "string", "enum": labels } });
                ("categorical_result", object(properties, ["reason", "category"]), 1)
            }
            TemplateScorer::RubricScores(ids) => {
                let entry = json!({
                    "type": "object",
                    "properties": { "id": { "type": "string" }, "reason": reason, "score": { "type": "number" } },
                    "required": ["id", "reason", "score"],
                    "additionalProperties": false,
                });
                let schema = json!({
                    "type": "object",
                    "properties": { "rubricScores": { "type": "array", "items": entry } },
                    "required": ["rubricScores"],
                    "additionalProperties": false,
                });
                ("rubric_scores_result", schema, ids.len().max(rubrics).max(4))
            }
        };
        let max_tokens = u32::try_from(entries).unwrap_or(u32::MAX).saturating_mul(400);
        ReplySchema { name: name.to_owned(), schema, max_tokens, wants_alternatives: false }
    }

    /// Reads a reply. Code fences around it don't matter. In the dialect of trpc-agent-go (`is_strict`) a label that is none of
    /// the categories scores 0. `rubrics`: those of the metric that are about the turn, by their ids.
    ///
    /// # Errors
    /// It gives no score.
    pub fn read(
        &self,
        raw: &str,
        is_strict: bool,
        rubrics: &BTreeSet<&str>,
    ) -> Result<ScorerReading, ScorerReplyError> {
        use ScorerReplyError as Error;
        let raw = unfenced(raw);
        let reply: Value = serde_json::from_str(raw).map_err(|error| Error::NotJson(error.to_string()))?;
        if let Some(key) = contradiction(raw).filter(|_| !is_strict) {
            return Err(Error::Contradiction(key));
        }
        let reason = |value: &Value| {
            let reason =
                field(value, "reason").and_then(Value::as_str).map(str::trim).ok_or(Error::Missing("reason"))?;
            Ok(if reason.is_empty() { "no reason was given".to_owned() } else { reason.to_owned() })
        };
        let score = |value: &Value| {
            let number = field(value, "score").and_then(Value::as_f64).ok_or(Error::Missing("score"))?;
            Score::new(number).ok_or(Error::OutOfRange)
        };
        match self {
            TemplateScorer::SingleScore => {
                Ok(ScorerReading { score: score(&reply)?, reason: reason(&reply)?, label: None })
            }
            TemplateScorer::Boolean => {
                let passed =
                    field(&reply, "passed").and_then(Value::as_bool).ok_or(Error::Missing("value `passed`"))?;
                Ok(ScorerReading { score: Score::from_bool(passed), reason: reason(&reply)?, label: None })
            }
            TemplateScorer::Categorical(categories) => {
                let label = field(&reply, "category").and_then(Value::as_str).ok_or(Error::Missing("category"))?;
                let known = categories.iter().find(|category| category.label == label);
                let reason = reason(&reply)?;
                let reason = match known {
                    Some(_) => reason,
                    None if !is_strict => {
                        let labels = categories.iter().map(|category| category.label.clone()).collect();
                        return Err(Error::UnknownCategory { label: label.to_owned(), labels });
                    }
                    None => format!("{reason} (the category is none of those that were given)"),
                };
                let score = known.map_or(Score::ZERO, |category| category.score);
                Ok(ScorerReading { score, reason, label: Some(label.to_owned()) })
            }
            TemplateScorer::RubricScores(ids) => {
                let entries =
                    field(&reply, "rubricScores").and_then(Value::as_array).filter(|entries| !entries.is_empty());
                let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
                for entry in entries.ok_or(Error::Missing("list `rubricScores`"))? {
                    let id = field(entry, "id").and_then(Value::as_str).ok_or(Error::NoRubricId)?;
                    reason(entry)?;
                    if scores.insert(id, score(entry)?).is_some() {
                        return Err(Error::RubricTwice(id.to_owned()));
                    }
                }
                let wanted: BTreeSet<&str> = match ids.as_slice() {
                    [] => rubrics.clone(),
                    named => named.iter().map(String::as_str).collect(),
                };
                let given: BTreeSet<&str> = scores.keys().copied().collect();
                if !wanted.is_empty() && wanted != given {
                    let names = |ids: BTreeSet<&str>| ids.into_iter().map(str::to_owned).collect();
                    return Err(Error::OtherRubrics { given: names(given), wanted: names(wanted) });
                }
                let mean = scores.values().map(|score| score.get()).sum::<f64>() / scores.len() as f64;
                let reason = scores.iter().map(|(id, score)| format!("{id}: {}", score.get())).collect::<Vec<_>>();
                Ok(ScorerReading { score: Score::clamped(mean), reason: reason.join(", "), label: None })
            }
        }
    }
}

/// The value of a key, in whatever case it is written, as Go reads it; the key itself comes first.
fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let any_case = || value.as_object()?.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value);
    value.get(key).or_else(any_case)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(scorer: &TemplateScorer, reply: &Value) -> Result<f64, ScorerReplyError> {
        scorer.read(&reply.to_string(), true, &BTreeSet::new()).map(|reading| reading.score.get())
    }

    #[test]
    fn each_reply_has_its_shape() {
        let categories = TemplateScorer::Categorical(vec![
            Category { label: "good".to_owned(), score: Score::ONE },
            Category { label: "poor".to_owned(), score: Score::clamped(0.2) },
        ]);
        let rubrics = TemplateScorer::RubricScores(vec!["a".to_owned(), "b".to_owned()]);
        for (scorer, reply, score) in [
            (&TemplateScorer::SingleScore, json!({"score": 0.7, "reason": "so"}), Ok(0.7)),
            (&TemplateScorer::SingleScore, json!({"score": "0.7", "reason": "so"}), Err("score is required")),
            (&TemplateScorer::SingleScore, json!({"score": 0.7, "reason": " "}), Ok(0.7)),
            (&TemplateScorer::SingleScore, json!({"score": 0.7}), Err("reason is required")),
            (&TemplateScorer::Boolean, json!({"passed": false, "reason": "so"}), Ok(0.0)),
            (&TemplateScorer::Boolean, json!({"passed": "true", "reason": "so"}), Err("`passed` is required")),
            (&categories, json!({"category": "poor", "reason": "so"}), Ok(0.2)),
            (&categories, json!({"category": "fine", "reason": "so"}), Ok(0.0)),
            (&categories, json!({"reason": "so"}), Err("category is required")),
            (&rubrics, json!({"rubricScores": []}), Err("list `rubricScores`")),
            (
                &rubrics,
                json!({"rubricScores": [{"id": "a", "score": 1, "reason": "so"}]}),
                Err("those of a, not of a, b"),
            ),
            (
                &rubrics,
                json!({"rubricScores": [{"id": "a", "score": 1, "reason": "so"}, {"id": "b", "score": 0, "reason": "so"}]}),
                Ok(0.5),
            ),
            (
                &rubrics,
                json!({"rubricScores": [{"id": "a", "score": 1, "reason": "so"}, {"id": "a", "score": 0, "reason": "so"}]}),
                Err("more than one score"),
            ),
        ] {
            match (read(scorer, &reply), score) {
                (Ok(given), Ok(score)) => assert_eq!(given, score, "{reply}"),
                (Err(given), Err(part)) => assert!(given.to_string().contains(part), "{reply}: {given}"),
                (given, _) => panic!("{reply}: {given:?}"),
            }
        }
        let fine = json!({"category": "fine", "reason": "so"}).to_string();
        assert!(
            categories
                .read(&fine, false, &BTreeSet::new())
                .unwrap_err()
                .to_string()
                .contains("\"fine\" is none of good, poor")
        );
        let twice = r#"{"passed": true, "passed": false, "reason": "so"}"#;
        assert!(
            TemplateScorer::Boolean
                .read(twice, false, &BTreeSet::new())
                .unwrap_err()
                .to_string()
                .contains("`passed` twice")
        );
        let fenced = "```json\n{\"passed\": true, \"reason\": \"so\"}\n```";
        assert!(TemplateScorer::Boolean.read(fenced, false, &BTreeSet::new()).is_ok());
    }
}
