//! The engine with its transactions, as one thread uses it.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use graphdblite::bounds::check;
use graphdblite::{Config, Database, GraphError as Theirs, SyncMode, Value as Engine};

use super::error::StatementError;
use super::limits::EmbeddedLimits;
use super::wire;
use crate::graph::{GraphError, GraphErrorKind, Parameters, Temporal, Value};

/// How long the engine itself waits for the writer's lock. Between our writers there is the turn.
const BUSY: Duration = Duration::from_secs(5);

/// An open database. Between two jobs a transaction is open only on a session's behalf.
pub(super) struct OpenDatabase {
    pub(super) database: Database,
    /// The most bytes that a statement may take, and the graph.
    pub(super) memory: usize,
}

impl OpenDatabase {
    /// A fresh graph in memory.
    pub(super) fn open(limits: EmbeddedLimits) -> Result<OpenDatabase, GraphError> {
        OpenDatabase::open_file(Path::new(":memory:"), limits)
    }

    /// The graph in this file, made when it isn't there.
    pub(super) fn open_file(file: &Path, limits: EmbeddedLimits) -> Result<OpenDatabase, GraphError> {
        let config = Config {
            busy_timeout_ms: BUSY.as_millis() as u32,
            // The graph is thrown away with the process: there is nothing to protect from a power cut.
            synchronous: SyncMode::Off,
            // A cap on hops would make a valid query fail, the budget on visited relationships stays.
            max_traversal_depth: 0,
            // Its own estimate; what is really taken is counted.
            max_materialized_bytes: 0,
            max_database_bytes: limits.memory as u64,
            ..Config::default()
        };
        let database = Database::open_with_config(file, config).map_err(|theirs| broken(&theirs))?;
        Ok(OpenDatabase { database, memory: limits.memory })
    }

    /// Opens a writing transaction unless one is open.
    pub(super) fn begin(&mut self) -> Result<(), StatementError> {
        if !self.database.in_transaction() {
            self.database.begin_write()?;
        }
        Ok(())
    }

    /// Keeps what the open transaction did.
    pub(super) fn commit(&mut self) -> Result<(), StatementError> {
        Ok(self.database.commit()?)
    }

    /// Undoes whatever is open; also the way back after a panic.
    pub(super) fn roll_back(&mut self) {
        if self.database.in_transaction() {
            // It fails only when the engine has rolled back already.
            let _ = self.database.rollback();
        }
    }

    /// The parameters of a statement as the engine takes them.
    pub(super) fn given(&mut self, parameters: &Parameters) -> Result<HashMap<String, Engine>, StatementError> {
        let given = parameters.iter().map(|(name, value)| Ok((name.clone(), self.parameter(name, value)?)));
        given.collect::<Result<_, _>>().map_err(StatementError::parameter)
    }

    fn parameter(&mut self, name: &str, value: &Value) -> Result<Engine, GraphError> {
        check();
        Ok(match value {
            Value::Null => Engine::Null,
            Value::Bool(truth) => Engine::Bool(*truth),
            Value::Int(number) => Engine::I64(*number),
            Value::Float(number) => Engine::F64(*number),
            Value::String(text) => Engine::String(text.clone()),
            Value::List(items) => {
                Engine::List(items.iter().map(|item| self.parameter(name, item)).collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => Engine::Map(
                entries.iter().map(|(key, entry)| Ok((key.clone(), self.parameter(name, entry)?))).collect::<Result<
                    _,
                    GraphError,
                >>(
                )?,
            ),
            Value::Temporal(temporal) => self.temporal(name, temporal)?,
            Value::Point(_) => return Err(super::gap::unsupported(&format!("A point as parameter (${name})"), None)),
            Value::Node(_) | Value::Relationship(_) | Value::Path(_) => {
                return Err(GraphError::new(
                    GraphErrorKind::Statement,
                    format!("The parameter ${name} is a {value}, and only plain values can be parameters."),
                ));
            }
        })
    }

    /// The engine keeps its temporal types to itself, but its own functions make them.
    fn temporal(&mut self, name: &str, temporal: &Temporal) -> Result<Engine, GraphError> {
        let function = temporal.kind.constructor();
        let text = HashMap::from([("text".to_owned(), Engine::String(temporal.text.clone()))]);
        let made = self.database.execute_with_params(&format!("RETURN {function}($text) AS value"), Some(&text));
        made.ok().and_then(|records| records.first().and_then(|record| record.get("value").cloned())).ok_or_else(|| {
            GraphError::new(
                GraphErrorKind::Statement,
                format!("The parameter ${name} is no {function}: '{}'.", temporal.text),
            )
        })
    }
}

pub(super) fn broken(theirs: &Theirs) -> GraphError {
    GraphError::new(GraphErrorKind::Other, format!("The embedded graph failed: {}", wire::message(theirs)))
}
