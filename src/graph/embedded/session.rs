//! A session on a graph: statements on their own and transactions, one after the other.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::counts::WriteCounts;
use super::error::{StatementError, StatementErrorKind};
use super::memory::ReservedMemory;
use super::packed::{Form, Packed};
use super::pool::{Sessions, TargetThread};
use crate::graph::Parameters;

/// Whether a statement or transaction may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Only read: a write is refused.
    Read,
    /// Anything.
    Write,
}

/// The kind of a statement that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It read.
    Read,
    /// It wrote and returned nothing.
    Write,
    /// It wrote and returned rows.
    ReadWrite,
    /// It was about indexes or constraints.
    Schema,
}

/// The answer to a statement.
#[derive(Debug)]
pub struct StatementResult {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, in the form of the session.
    pub rows: Packed,
    /// Its kind.
    pub effect: Effect,
    /// Its update counters.
    pub counts: WriteCounts,
    /// The memory of the rows, for as long as they are kept.
    pub held: ReservedMemory,
}

/// How long a statement of a session may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The statement itself.
    pub statement: Duration,
    /// Waiting for other writers before it.
    pub turn: Duration,
}

/// One user of a graph. Every method may be cancelled by dropping its future: a statement that stands alone is then undone
/// unless it was already committed, and [`Session::roll_back`] undoes the rest.
#[derive(Debug)]
pub struct GraphSession {
    sessions: Sessions,
    form: Form,
    transaction: Option<OpenTransaction>,
}

#[derive(Debug)]
struct OpenTransaction {
    access: AccessMode,
    /// The turn to write, from the first write to the end.
    turn: Option<OwnedSemaphorePermit>,
}

impl GraphSession {
    pub(super) fn new(sessions: Sessions, form: Form) -> GraphSession {
        GraphSession { sessions, form, transaction: None }
    }

    /// Runs one statement and commits it.
    pub async fn run(
        &mut self,
        access: AccessMode,
        statement: &str,
        parameters: &Parameters,
        timeouts: Timeouts,
    ) -> Result<StatementResult, StatementError> {
        match self.read(statement, parameters, timeouts).await {
            Err(refusal) if refusal.reason == StatementErrorKind::AccessMode && access == AccessMode::Write => {}
            answer => return answer,
        }
        let _turn = self.sessions.turn(timeouts.turn).await?;
        self.write(statement, parameters, timeouts, true).await
    }

    /// Begins a transaction. It takes up nothing until its first write.
    pub fn begin(&mut self, access: AccessMode) {
        self.roll_back();
        self.transaction = Some(OpenTransaction { access, turn: None });
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    /// Runs one statement in the open transaction. When it fails, the transaction is over and undone.
    pub async fn run_inside(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        timeouts: Timeouts,
    ) -> Result<StatementResult, StatementError> {
        let answer = self.inside(statement, parameters, timeouts).await;
        if answer.is_err() {
            self.roll_back();
        }
        answer
    }

    async fn inside(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        timeouts: Timeouts,
    ) -> Result<StatementResult, StatementError> {
        let Some(OpenTransaction { access, turn }) = &self.transaction else {
            return Err(StatementError::no_transaction());
        };
        let access = *access;
        if turn.is_none() {
            match self.read(statement, parameters, timeouts).await {
                Err(refusal) if refusal.reason == StatementErrorKind::AccessMode && access == AccessMode::Write => {}
                answer => return answer,
            }
            // Before the statement is on its way: if we are cancelled, somebody must still undo it.
            let turn = Some(self.sessions.turn(timeouts.turn).await?);
            self.transaction = Some(OpenTransaction { access, turn });
        }
        self.write(statement, parameters, timeouts, false).await
    }

    /// Commits the transaction.
    pub async fn commit(&mut self) -> Result<(), StatementError> {
        let Some(OpenTransaction { turn, .. }) = self.transaction.take() else {
            return Err(StatementError::no_transaction());
        };
        if turn.is_none() {
            return Ok(());
        }
        let committed = self.sessions.send(TargetThread::Writer, |worker| worker.commit());
        committed.await.unwrap_or_else(|_| Err(StatementError::stopped()))
    }

    /// Undoes the open transaction, if there is one. It does not wait: the writer does it before anything else.
    pub fn roll_back(&mut self) {
        if let Some(OpenTransaction { turn: Some(_), .. }) = self.transaction.take() {
            drop(self.sessions.send(TargetThread::Writer, |worker| {
                worker.store.roll_back();
                Ok(())
            }));
        }
    }

    async fn read(
        &self,
        statement: &str,
        parameters: &Parameters,
        timeouts: Timeouts,
    ) -> Result<StatementResult, StatementError> {
        let (statement, parameters, form) = (statement.to_owned(), parameters.clone(), self.form.clone());
        let work = self.sessions.ask(TargetThread::Reader, timeouts.statement, move |worker, request| {
            worker.answer(request, &form, |store, row| store.read(&statement, &parameters, row))
        });
        work.await
    }

    async fn write(
        &self,
        statement: &str,
        parameters: &Parameters,
        timeouts: Timeouts,
        alone: bool,
    ) -> Result<StatementResult, StatementError> {
        let (statement, parameters, form) = (statement.to_owned(), parameters.clone(), self.form.clone());
        let work = self.sessions.ask(TargetThread::Writer, timeouts.statement, move |worker, request| {
            let answer = worker.answer(request, &form, |store, row| store.write(&statement, &parameters, row));
            if alone { worker.end(request, answer) } else { answer }
        });
        work.await
    }
}

impl Drop for GraphSession {
    fn drop(&mut self) {
        self.roll_back();
    }
}

#[cfg(test)]
mod tests;
