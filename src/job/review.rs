//! `evaluator.review`: a second model that reads each message of the persona before it is sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Model;
use super::model_file::ModelFile;

/// A second model that reads each message of the persona before it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "review")]
pub struct Review {
    /// The reviewer: `openai/MODEL` (any OpenAI-compatible endpoint), `anthropic/MODEL`, `gemini/MODEL` or `watsonx/MODEL`; or a
    /// mapping that says how it is reached.
    #[schemars(with = "ModelFile")]
    pub model: Model,
    /// How often it is asked about each message, 1 to 9: a message is faulty where the majority says so. Default: 1
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 9))]
    pub samples: u32,
    /// The temperature of its model, 0 to 2. Default: 0, and 0.5 where it is asked several times
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
}

impl Review {
    /// The temperature of several samples: without any they would be one.
    const OF_SAMPLES: f64 = 0.5;

    /// The temperature of its model, 0 to 2.
    pub fn temperature(&self) -> f64 {
        self.temperature.unwrap_or(if self.samples > 1 { Review::OF_SAMPLES } else { 0.0 })
    }
}

fn one() -> u32 {
    1
}

fn is_one(samples: &u32) -> bool {
    *samples == 1
}
