//! Runs a statement: schema commands are handled here, the rest is rewritten for the engine or refused.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use graphdblite::{GraphError as Theirs, Value as Engine};

use super::bridge::{RewrittenStatement, bridge};
use super::cancel::CommitOrCancel;
use super::catalog;
use super::counts::WriteCounts;
use super::engine::OpenDatabase;
use super::error::StatementError;
use super::memory::full;
use super::packed::{Form, Packed};
use super::pool::Worker;
use super::schema::{Dispatch, dispatch};
use super::session::{Effect, StatementResult};
use super::wire::{self, RowReader};
use crate::cypher::{Columns, Statement, columns, split};
use crate::graph::{GraphError, GraphErrorKind, Parameters, Table, Value};

/// The outcome of a statement without its rows.
pub(super) struct Done {
    pub(super) columns: Vec<String>,
    effect: Effect,
    counts: WriteCounts,
}

impl Done {
    fn without_rows(effect: Effect, counts: WriteCounts) -> Done {
        Done { columns: Vec::new(), effect, counts }
    }
}

/// Takes the rows of a statement, one by one. When the statement fails, they count for nothing.
type RowSink<'r> = &'r mut dyn FnMut(Vec<Value>);

impl Worker {
    /// Runs a statement within the limits, and keeps count of what its rows take.
    pub(super) fn answer(
        &mut self,
        request: &CommitOrCancel,
        form: &Form,
        run: impl FnOnce(&mut OpenDatabase, RowSink<'_>) -> Result<Done, StatementError>,
    ) -> Result<StatementResult, StatementError> {
        let waiting = Arc::clone(&self.waiting);
        self.bounded(request, |store| {
            store.database.max_result_rows = 0;
            let mut rows = Packed::default();
            let Done { columns, effect, counts } = run(store, &mut |row| rows.push(&row, form))?;
            Ok(StatementResult { columns, rows, effect, counts, held: waiting.hold(store.memory)? })
        })
    }
}

impl OpenDatabase {
    /// Runs one statement and keeps nothing of it. A writing one is refused before it does anything, as
    /// [`super::StatementErrorKind::AccessMode`].
    pub(super) fn read(
        &mut self,
        text: &str,
        parameters: &Parameters,
        rows: RowSink<'_>,
    ) -> Result<Done, StatementError> {
        let statement = only(text)?;
        self.database.begin_read()?;
        let done = self.run(&statement, parameters, false, rows);
        self.roll_back();
        done
    }

    /// Runs one statement in the open transaction, or in a new one.
    pub(super) fn write(
        &mut self,
        text: &str,
        parameters: &Parameters,
        rows: RowSink<'_>,
    ) -> Result<Done, StatementError> {
        let statement = only(text)?;
        self.begin()?;
        self.run(&statement, parameters, true, rows)
    }

    /// As [`Store::read`], as a table of so many rows at most.
    pub(super) fn read_table(
        &mut self,
        text: &str,
        parameters: &Parameters,
        most: usize,
    ) -> Result<Table, StatementError> {
        self.database.max_result_rows = most;
        let mut rows = Vec::new();
        let done = self.read(text, parameters, &mut |row| rows.push(row))?;
        Ok(Table { columns: done.columns, rows })
    }

    /// Runs all statements of a text in a new transaction. Gives the rows of the last.
    pub(super) fn write_table(
        &mut self,
        text: &str,
        parameters: &Parameters,
        most: usize,
    ) -> Result<Table, StatementError> {
        self.database.max_result_rows = most;
        let statements = split(text);
        let mut table = if statements.is_empty() { Err(nothing()) } else { self.begin().map(|()| Table::default()) };
        for (at, statement) in statements.iter().enumerate() {
            let mut rows = Vec::new();
            let done =
                table.and_then(|_| self.run(&Statement::parse(statement), parameters, true, &mut |row| rows.push(row)));
            table = match done {
                Ok(done) => Ok(Table { columns: done.columns, rows }),
                Err(mut refusal) => {
                    if statements.len() > 1 {
                        let message = refusal.error.message;
                        refusal.error.message = format!("Statement {} of {}: {message}", at + 1, statements.len());
                    }
                    return Err(refusal);
                }
            };
        }
        table
    }

    fn run(
        &mut self,
        statement: &Statement<'_>,
        parameters: &Parameters,
        writes: bool,
        rows: RowSink<'_>,
    ) -> Result<Done, StatementError> {
        let declared = columns(statement);
        let effect = match dispatch(statement)? {
            Dispatch::Compile => {
                self.explain(statement, parameters)?;
                return Ok(Done::without_rows(Effect::Read, WriteCounts::default()));
            }
            Dispatch::Schema(_) if !writes => return Err(wire::refused_write().into()),
            Dispatch::Schema(command) => {
                return Ok(Done::without_rows(Effect::Schema, self.handle(&command, parameters)?));
            }
            Dispatch::Run if writes && declared == Columns::Nothing => Effect::Write,
            Dispatch::Run if writes => Effect::ReadWrite,
            Dispatch::Run if catalog::administers(statement) => Effect::Schema,
            Dispatch::Run => Effect::Read,
        };
        let Some(PreparedStatement { ours, declared, theirs, given }) =
            self.prepared(statement, declared, parameters)?
        else {
            return Ok(Done::without_rows(effect, WriteCounts::default()));
        };
        graphdblite::take_written();
        WriteCounts::take();
        let memory = self.memory;
        let refused = |theirs: Theirs| match is_full(&theirs) {
            true => full(memory).into(),
            false => StatementError::from_engine(wire::error(&ours, &theirs), Some(&theirs)),
        };
        let mut reader = RowReader::new(declared);
        let mut read = |record| reader.row(&record).into_iter().for_each(&mut *rows);
        self.database.execute_each(&theirs.text, Some(&given), &mut read).map_err(refused)?;
        // The statement's changes end with its transaction.
        theirs.name_problem.map_or(Ok(()), |message| Err(StatementError::statement(message)))?;
        self.enforce()?;
        Ok(Done { columns: reader.columns(), effect, counts: WriteCounts::take() })
    }

    /// The statement after EXPLAIN is compiled and not run. There are no rows, and no plan either.
    fn explain(&mut self, statement: &Statement<'_>, parameters: &Parameters) -> Result<(), StatementError> {
        self.compile(statement.rest(1), parameters)
    }

    /// Compiles a statement without running it.
    pub(super) fn compile(&mut self, text: &str, parameters: &Parameters) -> Result<(), StatementError> {
        let statement = Statement::parse(text);
        if dispatch(&statement)? != Dispatch::Run {
            return Ok(());
        }
        let Some(prepared) = self.prepared(&statement, columns(&statement), parameters)? else { return Ok(()) };
        let PreparedStatement { ours, theirs, given, .. } = prepared;
        let refused = |theirs: Theirs| StatementError::from_engine(wire::error(&ours, &theirs), Some(&theirs));
        self.database.compile(&theirs.text, Some(&given)).map_err(refused)?;
        theirs.name_problem.map_or(Ok(()), |message| Err(StatementError::statement(message)))
    }

    /// A statement as the engine takes it; `None` when nothing is left to do.
    fn prepared<'a>(
        &mut self,
        statement: &Statement<'a>,
        declared: Columns,
        parameters: &Parameters,
    ) -> Result<Option<PreparedStatement<'a>>, StatementError> {
        let mut given = self.given(parameters)?;
        Ok(match catalog::rewrite(self, statement)? {
            Some(rewritten) if rewritten.text.trim().is_empty() => None,
            Some(rewritten) => {
                given.extend(rewritten.given);
                let without_calls = Statement::parse(&rewritten.text);
                let (declared, theirs) = (columns(&without_calls), bridge(&without_calls));
                Some(PreparedStatement { ours: Cow::Owned(rewritten.text), declared, theirs, given })
            }
            None => Some(PreparedStatement {
                ours: Cow::Borrowed(statement.text),
                declared,
                theirs: bridge(statement),
                given,
            }),
        })
    }
}

/// A statement as the engine takes it, with all parameters.
struct PreparedStatement<'a> {
    /// As it was written, but for calls of procedures.
    ours: Cow<'a, str>,
    declared: Columns,
    theirs: RewrittenStatement,
    given: HashMap<String, Engine>,
}

/// Whether the database has no room left.
fn is_full(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Storage { .. }) && theirs.to_string().contains("database or disk is full")
}

/// The longest statement that the engine takes: a longer one isn't even looked at.
const LONGEST: usize = 1 << 20;

fn only(text: &str) -> Result<Statement<'_>, StatementError> {
    if text.len() > LONGEST {
        let message = format!(
            "The statement has {} bytes, and the embedded graph takes {LONGEST} at most. Hand data over as parameters.",
            text.len()
        );
        return Err(GraphError::new(GraphErrorKind::Limit, message).into());
    }
    match split(text).as_slice() {
        [statement] => Ok(Statement::parse(statement)),
        [] => Err(nothing()),
        several => Err(StatementError::statement(format!("One statement was expected here, not {}.", several.len()))),
    }
}

fn nothing() -> StatementError {
    StatementError::statement("There is no statement in this text.")
}
