//! What the YAML says of the embedded graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `graph.embedded`: in process, fresh for each trial. It has nothing to set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbeddedConfig {}
