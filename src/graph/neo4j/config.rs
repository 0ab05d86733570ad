//! The YAML settings of a Neo4j database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `graph.neo4j`. `NEO_URI`, `NEO_USERNAME` and `NEO_PASSWORD` fill in what is missing here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Neo4jConfig {
    /// Where it listens. Default: bolt://localhost:7687
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Default: neo4j
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Better left to `NEO_PASSWORD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub password: Option<String>,
    /// The database's name. Default: the user's home database
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

impl Neo4jConfig {
    /// Why this build has none; `None` where it has.
    pub const ABSENT: Option<&'static str> = match cfg!(feature = "neo4j") {
        true => None,
        false => Some("this eval-job was built without Neo4j (the feature `neo4j`)"),
    };

    /// Where it listens if nobody says otherwise.
    pub const DEFAULT_URI: &'static str = "bolt://localhost:7687";
}
