//! Stands for Neo4j in a build without the feature `neo4j`: its settings are read, and it can't be reached.

mod address;
mod config;
mod connection;

use crate::graph::absent::Absent;
pub use crate::graph::absent::Absent as Neo4jGraph;
use crate::graph::{GraphError, GraphErrorKind};

pub use address::{AddressError, check};
pub use config::Neo4jConfig;
pub use connection::{Neo4jConnection, Neo4jLimits};

impl Absent {
    /// Fails.
    pub fn connect(_: Neo4jConnection, _: Neo4jLimits) -> Result<Absent, GraphError> {
        Err(GraphError::new(GraphErrorKind::Other, Neo4jConfig::ABSENT.unwrap_or_default()))
    }

    /// Makes a database.
    pub async fn create_database(&self, _: &str) -> Result<(), GraphError> {
        match *self {}
    }

    /// Deletes a database.
    pub async fn drop_database(&self, _: &str) -> Result<(), GraphError> {
        match *self {}
    }
}
