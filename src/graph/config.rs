//! Which graph a job names.

use super::embedded::EmbeddedConfig;
use super::neo4j::Neo4jConfig;

/// Which graph a job names.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphConfig {
    /// `graph.embedded`: in process.
    Embedded(EmbeddedConfig),
    /// `graph.neo4j`: a Neo4j database.
    Neo4j(Neo4jConfig),
}

impl GraphConfig {
    /// Why this build has no such graph; `None` where it has.
    pub fn absent(&self) -> Option<&'static str> {
        match self {
            GraphConfig::Embedded(_) => EmbeddedConfig::ABSENT,
            GraphConfig::Neo4j(_) => Neo4jConfig::ABSENT,
        }
    }
}
