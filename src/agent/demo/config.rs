//! What the YAML says of the demo agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `target.demo`: the agent that eval-job brings along. It has nothing to set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DemoConfig {}

impl DemoConfig {
    /// The models that it offers. The first does what it says; the second only says it.
    pub const MODELS: [&'static str; 2] = ["demo-careful", "demo-sloppy"];
}
