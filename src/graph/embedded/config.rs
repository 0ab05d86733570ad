//! What the YAML says of the embedded graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::PortConfig;

/// `graph.embedded`: in process, empty at first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbeddedConfig {
    /// The port on loopback at which an agent that eval-job starts finds the graph: `auto` takes a free one for each graph.
    /// With a number, trials that have a graph of their own run one after the other. Default: auto
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bolt: Option<PortConfig>,
}

impl EmbeddedConfig {
    /// The port of its Bolt door, where it is fixed.
    pub fn bolt_port(&self) -> Option<u16> {
        self.bolt.and_then(PortConfig::number)
    }
}
