//! The YAML settings for watching the graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::unscoped_problem;

/// `graph.watch`: which part of the graph is captured before the conversation, after each turn and at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "watch")]
pub struct WatchConfig {
    /// Only nodes with at least one of these labels. Default: nodes with any or no label.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub labels: Vec<String>,
    /// Only nodes for which this Cypher predicate on `n` is true: `n.user = $user`. `$user`, `$sessionId`, `$trial` and `$model` are parameters.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub predicate: Option<String>,
    /// With more nodes than this, nothing is watched; with 0, nothing is ever watched. Default: 10000 in Neo4j, 100000 in the embedded graph
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    pub max_nodes: Option<u32>,
}

impl WatchConfig {
    /// Whether the graph is captured at all.
    pub fn is_on(&self) -> bool {
        self.max_nodes != Some(0)
    }

    /// Whether the part that is watched is that of one user: its predicate names `$user`.
    pub fn is_of_one_user(&self) -> bool {
        self.predicate.as_deref().is_some_and(|predicate| unscoped_problem(predicate).is_none())
    }
}
