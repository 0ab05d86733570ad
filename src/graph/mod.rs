//! The knowledge graph that the agent writes to: one folder a backend. In come Cypher statements with parameters; out
//! come [`Table`]s of [`Value`]s, or a [`GraphError`] with its cause.
//!
//! Invariants: statements and parameters are never spliced; an error says which side it is on, so that a graph that is
//! down never looks like an agent that did nothing; a clear error is never traded for a wrong row.

#[cfg(not(all(feature = "embedded", feature = "neo4j", feature = "demo")))]
pub(crate) mod absent;
#[cfg(feature = "embedded")]
pub mod bolt;
#[cfg(not(feature = "embedded"))]
#[path = "bolt/absent.rs"]
pub mod bolt;
mod config;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(not(feature = "embedded"))]
#[path = "embedded/absent.rs"]
pub mod embedded;
#[cfg(feature = "neo4j")]
pub mod neo4j;
#[cfg(not(feature = "neo4j"))]
#[path = "neo4j/absent.rs"]
pub mod neo4j;
pub mod snapshot;
mod statement_problem;

pub use crate::cypher::{CypherProblem, assertion_problem, setup_problem, unscoped_problem};
pub use config::GraphConfig;
pub use snapshot::WatchConfig;
pub use statement_problem::StatementProblem;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use crate::evidence::{Node, Path, Point, Relationship, Table, Temporal, TemporalKind, Value};

/// The statements of a text, which are parted by semicolons.
pub fn statements(text: &str) -> Vec<&str> {
    crate::cypher::split(text)
}

/// Parameters of a statement: `$name` in Cypher.
pub type Parameters = BTreeMap<String, Value>;

/// A property graph that understands Cypher.
#[async_trait]
pub trait Graph: Send + Sync {
    /// The backend's name, as the job file spells it.
    fn backend(&self) -> &'static str;

    /// Runs one statement that must not write. A statement that would is refused, on every backend.
    async fn read(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError>;

    /// Runs one statement, or several separated by semicolons, in one transaction: all of it or nothing. The rows are
    /// those of the last statement.
    async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError>;

    /// Why others can't work with the graph just now: it does not answer, it came back within this time, or somebody
    /// waits for another one's lock; `None` if nothing is wrong. `failure` is the error of whoever needs the graph.
    /// Makes no second attempt and waits for a few seconds at most.
    async fn trouble(&self, within: Duration, failure: &str) -> Option<String> {
        let _ = (within, failure);
        let answer = tokio::time::timeout(Duration::from_secs(3), self.read("RETURN 1", &Parameters::new())).await;
        // One that is busy with what was asked of it is not down.
        let error = answer.ok()?.err()?;
        matches!(error.kind, GraphErrorKind::Unreachable | GraphErrorKind::Limit).then_some(error.message)
    }

    /// A number that changes with every committed write, whoever made it: while it is the same, so is the graph. `None`
    /// where the backend does not count.
    fn version(&self) -> Option<u64> {
        None
    }

    /// Whether the id of a node is never given to another one after it was deleted.
    fn lasting_ids(&self) -> bool {
        false
    }
}

#[cfg(any(feature = "embedded", feature = "neo4j"))]
/// A value that can't be converted to or from another representation. It says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConversionError(pub(crate) String);

/// The error of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct GraphError {
    /// Its cause.
    pub kind: GraphErrorKind,
    /// A sentence without secrets that quotes the backend.
    pub message: String,
}

impl GraphError {
    pub(crate) fn new(kind: GraphErrorKind, message: impl Into<String>) -> GraphError {
        GraphError { kind, message: message.into() }
    }
}

/// The cause of a graph error, which decides who is to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GraphErrorKind {
    /// The database can't be reached.
    Unreachable,
    /// It refuses our credentials.
    Unauthorized,
    /// The statement is not valid Cypher, or names what does not exist.
    Statement,
    /// Valid Cypher that this backend does not know; the message names one that does.
    Unsupported,
    /// A write where only reading is allowed.
    WriteRefused,
    /// A limit on time, rows or memory was passed.
    Limit,
    /// Anything else.
    Other,
}
