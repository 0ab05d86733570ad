//! What the judge was asked and what it said.

use serde::{Deserialize, Serialize};

use super::{Observed, Usage};

/// The JSON Schema that a model's reply must follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplySchema {
    /// A short name, letters and underscores: providers want one.
    pub name: String,
    /// The JSON Schema.
    pub schema: serde_json::Value,
}

/// Something that a metric wants a judge to decide. The runner carries it; a metric never calls a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What it is known by: metrics that ask the same share its judgement.
    pub id: String,
    /// The metric that asks, and reads the reply.
    pub metric: String,
    /// Which of several samples of the same judge, from 1.
    pub sample: u32,
    /// The rendered prompt: all that the judge sees.
    pub prompt: String,
    /// The shape of the reply.
    pub schema: ReplySchema,
    /// The judge's temperature.
    pub temperature: f64,
}

/// A judge's answer to one question: its raw words, so that they can be read and graded again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// The id of the question; version 1 called it the metric.
    #[serde(alias = "metric")]
    pub question: String,
    /// The model that answered; version 1 called it the model.
    #[serde(alias = "model")]
    pub judge: String,
    /// Which of several samples of the same judge, from 1.
    #[serde(default = "first")]
    pub sample: u32,
    /// The usable reply, or why there is none.
    pub reply: Observed<String>,
    /// Replies that could not be used, each with the reason, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<(String, String)>,
    /// Tokens and calls of all tries.
    pub usage: Usage,
    /// What the model was asked for and refuses, a sentence each: a temperature, a schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn first() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_of_version_1_is_read() {
        let usage = serde_json::to_string(&Usage::default()).unwrap();
        let stored = format!(r#"{{"metric": "tasks", "model": "m", "reply": {{"seen": "{{}}"}}, "usage": {usage}}}"#);
        let judgement: Judgement = serde_json::from_str(&stored).unwrap();
        assert_eq!((judgement.question.as_str(), judgement.judge.as_str(), judgement.sample), ("tasks", "m", 1));
    }
}
