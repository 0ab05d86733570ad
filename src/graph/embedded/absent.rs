//! Stands for the embedded graph in a build without the feature `embedded`: its settings are read, and it can't be made.

mod config;
mod limits;

use std::convert::Infallible;

use async_trait::async_trait;

use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table};

pub use config::{EmbeddedConfig, Megabytes};
pub use limits::EmbeddedLimits;

/// An embedded graph; there is none in this build.
#[derive(Debug)]
pub struct EmbeddedGraph(pub(in crate::graph) Infallible);

impl EmbeddedGraph {
    /// Fails.
    pub fn with_limits(_: EmbeddedLimits) -> Result<EmbeddedGraph, GraphError> {
        Err(GraphError::new(GraphErrorKind::Other, EmbeddedConfig::ABSENT.unwrap_or_default().to_owned()))
    }

    /// Fails.
    pub fn shareable(limits: EmbeddedLimits) -> Result<EmbeddedGraph, GraphError> {
        EmbeddedGraph::with_limits(limits)
    }
}

#[async_trait]
impl Graph for EmbeddedGraph {
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

/// Nothing is known without the graph's compiler.
pub fn certain_problem(_: &str, _: &[&str]) -> Option<String> {
    None
}

/// Nothing is known without the graph's compiler.
pub fn compile_problem(_: &str, _: &[&str]) -> Option<String> {
    None
}
