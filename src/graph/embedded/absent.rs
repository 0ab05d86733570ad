//! Stands for the embedded graph in a build without the feature `embedded`: its settings are read, and it can't be made.

mod config;
mod limits;

use crate::graph::absent::Absent;
pub use crate::graph::absent::Absent as EmbeddedGraph;
use crate::graph::{GraphError, GraphErrorKind, StatementProblem};

pub use config::{EmbeddedConfig, Megabytes};
pub use limits::EmbeddedLimits;

impl Absent {
    /// Fails.
    pub fn with_limits(_: EmbeddedLimits) -> Result<Absent, GraphError> {
        Err(GraphError::new(GraphErrorKind::Other, EmbeddedConfig::ABSENT.unwrap_or_default()))
    }

    /// Fails.
    pub fn shareable(limits: EmbeddedLimits) -> Result<Absent, GraphError> {
        Absent::with_limits(limits)
    }
}

/// Nothing is known without the graph's compiler.
pub fn certain_problem(_: &str, _: &[&str]) -> Option<StatementProblem> {
    None
}

/// Nothing is known without the graph's compiler.
pub fn compile_problem(_: &str, _: &[&str]) -> Option<StatementProblem> {
    None
}
