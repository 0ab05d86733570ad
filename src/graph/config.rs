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
