//! What the YAML says of the demo agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `target.demo`: the agent that eval-job brings along. It has nothing to set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DemoConfig {}
