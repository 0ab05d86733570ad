//! The engine as a session's worker uses it: step by step, with transactions that stay open.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use graphdblite::{Config, Database, GraphError as Theirs, SyncMode, Value as Engine};

use super::bridge::bridge;
use super::catalog;
use super::client::Limits;
use super::counts::Counts;
use super::engine::{Store, broken, config};
use super::memory::full;
use super::packed::{Form, Packed};
use super::refusal::Refusal;
use super::schema::{Course, course};
use super::scope::complaint;
use super::session::{Answer, Effect};
use super::wire::{self, Reader};
use crate::graph::cypher::{Columns, columns, significant, split};
use crate::graph::{GraphError, GraphErrorKind, Parameters, Table, Value};

impl Store {
    /// The graph in this file, made when it isn't there. `wait` is for another writer to finish.
    pub(super) fn open_file(file: &Path, limits: Limits, wait: Duration) -> Result<Store, GraphError> {
        let config = Config {
            busy_timeout_ms: wait.as_millis().try_into().unwrap_or(u32::MAX),
            // The graph is thrown away with the process: there is nothing to protect from a power cut.
            synchronous: SyncMode::Off,
            ..config(limits)
        };
        let database = Database::open_with_config(file, config).map_err(|theirs| broken(&theirs))?;
        Ok(Store { database, memory: limits.memory })
    }

    /// Opens a writing transaction unless one is open.
    pub(super) fn begin(&mut self) -> Result<(), Refusal> {
        if self.database.in_transaction() {
            return Ok(());
        }
        self.database.begin_write().map_err(|theirs| Refusal::of(broken(&theirs), Some(&theirs)))
    }

    /// Keeps what the open transaction did.
    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        self.database.commit().map_err(|theirs| Refusal::of(broken(&theirs), Some(&theirs)))
    }

    /// Runs one statement that does not write, outside of any transaction. A writing one is refused before it does
    /// anything, as [`super::RefusalReason::AccessMode`].
    pub(super) fn try_read(&mut self, text: &str, parameters: &Parameters, form: &Form) -> Result<Answer, Refusal> {
        let statement = only(text)?;
        match course(statement, parameters) {
            Course::Run => {}
            Course::Compile => {
                self.compile(statement, parameters)?;
                return Ok(Answer::empty(Effect::Read));
            }
            Course::Schema(_) => return Err(Refusal::of(wire::refused_schema(), None)),
            Course::Refuse(error) => return Err(Refusal::of(error, None)),
        }
        self.database.begin_read().map_err(|theirs| Refusal::of(broken(&theirs), Some(&theirs)))?;
        let effect = if catalog::administers(statement) { Effect::Schema } else { Effect::Read };
        let answer = self.pack(statement, parameters, effect, form);
        self.roll_back();
        answer
    }

    /// Runs one statement in the open transaction.
    pub(super) fn try_write(&mut self, text: &str, parameters: &Parameters, form: &Form) -> Result<Answer, Refusal> {
        let statement = only(text)?;
        let effect = match course(statement, parameters) {
            Course::Run if columns(statement) == Columns::Nothing => Effect::Write,
            Course::Run => Effect::ReadWrite,
            Course::Compile => {
                self.compile(statement, parameters)?;
                return Ok(Answer::empty(Effect::Read));
            }
            Course::Schema(command) => {
                let counts = self.obey(&command, parameters)?;
                return Ok(Answer { counts, ..Answer::empty(Effect::Schema) });
            }
            Course::Refuse(error) => return Err(Refusal::of(error, None)),
        };
        Counts::take();
        let answer = self.pack(statement, parameters, effect, form)?;
        Ok(Answer { counts: Counts::take(), ..answer })
    }

    fn pack(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        effect: Effect,
        form: &Form,
    ) -> Result<Answer, Refusal> {
        let mut rows = Packed::default();
        let columns = self.try_run(statement, parameters, &mut |row| rows.push(&row, form))?;
        Ok(Answer { columns, rows, ..Answer::empty(effect) })
    }

    /// What `EXPLAIN` does: whatever comes after the word is compiled and not run. There are no rows, and no plan either.
    pub(super) fn compile(&mut self, statement: &str, parameters: &Parameters) -> Result<Table, Refusal> {
        let Some(explain) = significant(statement).into_iter().next() else { return Ok(Table::default()) };
        let statement = statement[explain.end()..].trim();
        match course(statement, parameters) {
            Course::Run => {}
            Course::Compile | Course::Schema(_) => return Ok(Table::default()),
            Course::Refuse(error) => return Err(Refusal::of(error, None)),
        }
        let mut given = self.given(parameters)?;
        let rewritten = catalog::rewrite(self, statement)?;
        let statement = match &rewritten {
            Some(rewritten) if rewritten.text.trim().is_empty() => return Ok(Table::default()),
            Some(rewritten) => {
                given.extend(rewritten.given.iter().map(|(name, rows)| (name.clone(), rows.clone())));
                rewritten.text.as_str()
            }
            None => statement,
        };
        let bridged = bridge(statement);
        let refused = |theirs: Theirs| Refusal::of(wire::error(statement, &theirs), Some(&theirs));
        self.database.compile(&bridged.text, Some(&given)).map_err(refused)?;
        match complaint(&bridged.words) {
            Some(message) => Err(Refusal::of(GraphError { kind: GraphErrorKind::Statement, message }, None)),
            None => Ok(Table::default()),
        }
    }

    pub(super) fn given(&mut self, parameters: &Parameters) -> Result<HashMap<String, Engine>, Refusal> {
        let mut given = HashMap::new();
        for (name, value) in parameters {
            given.insert(name.clone(), self.parameter(name, value).map_err(unfit)?);
        }
        Ok(given)
    }

    /// Runs one statement in whatever transaction is open, hands its rows on one by one, and gives their columns. When
    /// it fails, the rows count for nothing.
    pub(super) fn try_run(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        row: &mut dyn FnMut(Vec<Value>),
    ) -> Result<Vec<String>, Refusal> {
        let mut given = self.given(parameters)?;
        let rewritten = catalog::rewrite(self, statement)?;
        let statement = match &rewritten {
            Some(rewritten) if rewritten.text.trim().is_empty() => return Ok(Vec::new()),
            Some(rewritten) => {
                given.extend(rewritten.given.iter().map(|(name, rows)| (name.clone(), rows.clone())));
                rewritten.text.as_str()
            }
            None => statement,
        };
        graphdblite::take_written();
        let bridged = bridge(statement);
        let memory = self.memory;
        let refused = |theirs: Theirs| match is_full(&theirs) {
            true => Refusal::of(full(memory), None),
            false => Refusal::of(wire::error(statement, &theirs), Some(&theirs)),
        };
        let mut reader = Reader::of(statement);
        let mut read = |record| reader.row(&record).into_iter().for_each(&mut *row);
        self.database.execute_each(&bridged.text, Some(&given), &mut read).map_err(refused)?;
        if let Some(message) = complaint(&bridged.words) {
            // What the statement did goes with its transaction.
            return Err(Refusal::of(GraphError { kind: GraphErrorKind::Statement, message }, None));
        }
        self.enforce()?;
        Ok(reader.columns())
    }
}

/// A parameter that is no value of a parameter.
fn unfit(error: GraphError) -> Refusal {
    let mut refusal = Refusal::of(error, None);
    if refusal.reason == super::RefusalReason::Syntax {
        refusal.reason = super::RefusalReason::Type;
    }
    refusal
}

/// Whether the database has no room left.
fn is_full(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Storage { .. }) && theirs.to_string().contains("database or disk is full")
}

/// The longest statement that the engine takes: a longer one isn't even looked at.
const LONGEST: usize = 1 << 20;

fn only(text: &str) -> Result<&str, Refusal> {
    if text.len() > LONGEST {
        let message = format!(
            "The statement has {} bytes, and the embedded graph takes {LONGEST} at most. Hand data over as parameters.",
            text.len()
        );
        return Err(Refusal::of(GraphError { kind: GraphErrorKind::Limit, message }, None));
    }
    let statements = split(text);
    let message = match statements.as_slice() {
        [statement] => return Ok(statement),
        [] => "There is no statement in this text.".to_owned(),
        several => format!("One statement was expected here, not {}.", several.len()),
    };
    Err(Refusal::of(GraphError { kind: GraphErrorKind::Statement, message }, None))
}
