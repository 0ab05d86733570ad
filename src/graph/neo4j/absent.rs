//! Stands for Neo4j in a build without the feature `neo4j`: its settings are read, and it can't be reached.

mod address;
mod config;
mod connection;

use std::convert::Infallible;

use async_trait::async_trait;

use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table};

pub use address::check;
pub use config::Neo4jConfig;
pub use connection::{Neo4jConnection, Neo4jLimits};

/// A Neo4j database; none can be reached by this build.
#[derive(Debug)]
pub struct Neo4jGraph(Infallible);

impl Neo4jGraph {
    /// Fails.
    pub fn connect(_: Neo4jConnection, _: Neo4jLimits) -> Result<Neo4jGraph, GraphError> {
        Err(GraphError::new(GraphErrorKind::Other, Neo4jConfig::ABSENT.unwrap_or_default().to_owned()))
    }

    /// Makes a database.
    pub async fn create_database(&self, _: &str) -> Result<(), GraphError> {
        match self.0 {}
    }

    /// Deletes a database.
    pub async fn drop_database(&self, _: &str) -> Result<(), GraphError> {
        match self.0 {}
    }
}

#[async_trait]
impl Graph for Neo4jGraph {
    fn backend(&self) -> &'static str {
        match self.0 {}
    }

    async fn read(&self, _: &str, _: &Parameters) -> Result<Table, GraphError> {
        match self.0 {}
    }

    async fn write(&self, _: &str, _: &Parameters) -> Result<Table, GraphError> {
        match self.0 {}
    }
}
