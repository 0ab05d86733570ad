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
    /// Which metric asks; its judgement is found by this name.
    pub metric: String,
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
    /// The metric that asked.
    pub metric: String,
    /// The model that answered.
    pub model: String,
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
