//! The engine with its transactions, as one thread uses it.

use std::collections::HashMap;

use graphdblite::bounds::check;
use graphdblite::{Config, Database, GraphError as Theirs, Value as Engine};

use super::client::Limits;
use super::fate::Fate;
use super::schema::{Course, course};
use super::wire;
use crate::graph::cypher::split;
use crate::graph::{GraphError, GraphErrorKind, Parameters, Table, Temporal, Value};

/// An open database. Between two calls no transaction is open.
pub(super) struct Store {
    pub(super) database: Database,
    /// The most bytes that a statement may take, and the graph.
    pub(super) memory: usize,
}

impl Store {
    /// A fresh graph in memory.
    pub(super) fn open(limits: Limits) -> Result<Store, GraphError> {
        let database = Database::open_with_config(":memory:", config(limits)).map_err(|theirs| broken(&theirs))?;
        Ok(Store { database, memory: limits.memory })
    }

    /// Runs one statement and keeps nothing of it.
    pub(super) fn read(&mut self, text: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let statements = split(text);
        let [statement] = statements.as_slice() else {
            return Err(GraphError {
                kind: GraphErrorKind::Statement,
                message: format!("One statement was expected here, not {}.", statements.len()),
            });
        };
        self.database.begin_read().map_err(|theirs| broken(&theirs))?;
        let table = match course(statement, parameters) {
            Course::Run => self.run(statement, parameters),
            Course::Compile => self.compile(statement, parameters).map_err(|refusal| refusal.error),
            Course::Schema(_) => Err(wire::refused_schema()),
            Course::Refuse(error) => Err(error),
        };
        self.roll_back();
        table
    }

    /// Runs all statements and keeps all of them or nothing. Gives the rows of the last.
    pub(super) fn write(&mut self, text: &str, parameters: &Parameters, fate: &Fate) -> Result<Table, GraphError> {
        let statements = split(text);
        if statements.is_empty() {
            return Err(GraphError {
                kind: GraphErrorKind::Statement,
                message: "There is no statement in this text.".to_owned(),
            });
        }
        self.database.begin_write().map_err(|theirs| broken(&theirs))?;
        let mut table = Ok(Table::default());
        for (at, statement) in statements.iter().enumerate() {
            table = match course(statement, parameters) {
                Course::Run => self.run(statement, parameters),
                Course::Compile => self.compile(statement, parameters).map_err(|refusal| refusal.error),
                Course::Schema(command) => {
                    self.obey(&command, parameters).map(|_| Table::default()).map_err(|refusal| refusal.error)
                }
                Course::Refuse(error) => Err(error),
            };
            if let Err(error) = &mut table {
                if statements.len() > 1 {
                    error.message = format!("Statement {} of {}: {}", at + 1, statements.len(), error.message);
                }
                break;
            }
        }
        if table.is_ok() && fate.keep() {
            self.database.commit().map_err(|theirs| broken(&theirs))?;
        } else {
            self.roll_back();
        }
        table
    }

    /// Undoes whatever is open; also the way back after a panic.
    pub(super) fn roll_back(&mut self) {
        if self.database.in_transaction() {
            // It fails only when the engine has rolled back already.
            let _ = self.database.rollback();
        }
    }

    fn run(&mut self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let mut rows = Vec::new();
        let columns =
            self.try_run(statement, parameters, &mut |row| rows.push(row)).map_err(|refusal| refusal.error)?;
        Ok(Table { columns, rows })
    }

    pub(super) fn parameter(&mut self, name: &str, value: &Value) -> Result<Engine, GraphError> {
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
                return Err(GraphError {
                    kind: GraphErrorKind::Statement,
                    message: format!("The parameter ${name} is a {value}, and only plain values can be parameters."),
                });
            }
        })
    }

    /// The engine keeps its temporal types to itself, but its own functions make them.
    fn temporal(&mut self, name: &str, temporal: &Temporal) -> Result<Engine, GraphError> {
        let function = temporal.kind.constructor();
        let text = HashMap::from([("text".to_owned(), Engine::String(temporal.text.clone()))]);
        let made = self.database.execute_with_params(&format!("RETURN {function}($text) AS value"), Some(&text));
        made.ok().and_then(|records| records.first().and_then(|record| record.get("value").cloned())).ok_or_else(|| {
            GraphError {
                kind: GraphErrorKind::Statement,
                message: format!("The parameter ${name} is no {function}: '{}'.", temporal.text),
            }
        })
    }
}

/// How the engine is held to our limits.
pub(super) fn config(limits: Limits) -> Config {
    Config {
        max_result_rows: limits.rows,
        // A cap on hops would make a valid query fail, the budget on visited relationships stays.
        max_traversal_depth: 0,
        // Its own estimate; what is really taken is counted.
        max_materialized_bytes: 0,
        max_database_bytes: limits.memory as u64,
        ..Config::default()
    }
}

pub(super) fn broken(theirs: &Theirs) -> GraphError {
    GraphError { kind: GraphErrorKind::Other, message: format!("The embedded graph failed: {}", wire::words(theirs)) }
}
