//! The judge's verdict as it must be written:
//! `{"tasks": [{"index": 1, "reason": "…", "score": 0.8}], "tone": {"reason": "…", "score": 0.9}}`.

use serde_json::{Value, json};

use crate::evidence::ReplySchema;
use crate::score::{Component, Score};

/// A verdict that can be used: one entry a task, in the tasks' order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// One entry a task.
    pub(super) tasks: Vec<Opinion>,
    /// How the agent spoke.
    pub(super) tone: Opinion,
}

/// A score and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Opinion {
    reason: String,
    score: Score,
}

impl Opinion {
    /// The opinion as part of a scorecard.
    pub(super) fn component(&self) -> Component {
        Component::scored(self.score, self.reason.clone())
    }

    fn read(value: &Value, of: &str) -> Result<Opinion, String> {
        let reason = value.get("reason").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if reason.is_empty() {
            return Err(format!("{of} has no \"reason\""));
        }
        let number = value.get("score").and_then(Value::as_f64).ok_or_else(|| format!("{of} has no number as \"score\""))?;
        let score = Score::new(number).ok_or_else(|| format!("the score of {of} is {number}, which is not from 0 to 1"))?;
        Ok(Opinion { reason: reason.to_owned(), score })
    }
}

impl Verdict {
    /// Reads a reply about this many tasks.
    pub(super) fn read(raw: &str, tasks: usize) -> Result<Verdict, String> {
        let value: Value =
            serde_json::from_str(raw.trim()).map_err(|error| format!("it is not the JSON object that was asked for ({error})"))?;
        let entries = value.get("tasks").and_then(Value::as_array).ok_or("it has no list \"tasks\"")?;
        let mut opinions: Vec<Option<Opinion>> = vec![None; tasks];
        for entry in entries {
            let index = entry.get("index").and_then(Value::as_u64).ok_or("an entry of \"tasks\" has no whole number as \"index\"")?;
            let slot = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
            let slot = slot.and_then(|slot| opinions.get_mut(slot)).ok_or_else(|| {
                format!("there is no task {index}: the tasks are 1 to {tasks}")
            })?;
            if slot.is_some() {
                return Err(format!("task {index} has two entries"));
            }
            *slot = Some(Opinion::read(entry, &format!("task {index}"))?);
        }
        let missing: Vec<String> =
            opinions.iter().zip(1..).filter(|(opinion, _)| opinion.is_none()).map(|(_, index)| index.to_string()).collect();
        if !missing.is_empty() {
            return Err(format!("it has no entry for task {}", missing.join(", ")));
        }
        let tone = Opinion::read(value.get("tone").unwrap_or(&Value::Null), "\"tone\"")?;
        Ok(Verdict { tasks: opinions.into_iter().flatten().collect(), tone })
    }
}

/// The verdict's JSON Schema: in every object the reason stands before the score, so that the score follows from it.
pub(super) fn schema() -> ReplySchema {
    let score = json!({"type": "number", "minimum": 0, "maximum": 1});
    ReplySchema {
        name: "verdict".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "tasks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"index": {"type": "integer"}, "reason": {"type": "string"}, "score": score},
                        "required": ["index", "reason", "score"],
                        "additionalProperties": false
                    }
                },
                "tone": {
                    "type": "object",
                    "properties": {"reason": {"type": "string"}, "score": score},
                    "required": ["reason", "score"],
                    "additionalProperties": false
                }
            },
            "required": ["tasks", "tone"],
            "additionalProperties": false
        }),
    }
}
