//! A session on a shared graph: statements on their own and transactions, one after the other.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::counts::Counts;
use super::fate::Abandon;
use super::memory::Held;
use super::packed::{Form, Packed};
use super::refusal::{Refusal, RefusalReason};
use super::shared::{Asked, Order, Sessions, Then};
use crate::graph::Parameters;

/// What a statement or a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only read: a write is refused.
    Read,
    /// Anything.
    Write,
}

/// What a statement did.
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

/// What a statement gave.
#[derive(Debug)]
pub struct Answer {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, in the form of the session.
    pub rows: Packed,
    /// What it did.
    pub effect: Effect,
    /// How much it wrote.
    pub counts: Counts,
    /// What the rows take, for as long as they are kept.
    pub held: Held,
}

impl Answer {
    /// Without rows, and nothing was written.
    pub(super) fn empty(effect: Effect) -> Answer {
        Answer {
            columns: Vec::new(),
            rows: Packed::default(),
            effect,
            counts: Counts::default(),
            held: Held::default(),
        }
    }
}

/// How long a statement of a session may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The statement itself.
    pub time: Duration,
    /// Waiting for other writers before it.
    pub turn: Duration,
}

/// One user of a shared graph. Every method may be cancelled by dropping its future: a statement that stands alone is
/// then undone unless it was already kept, and [`Session::roll_back`] undoes the rest.
#[derive(Debug)]
pub struct Session {
    sessions: Sessions,
    form: Form,
    transaction: Option<Transaction>,
}

#[derive(Debug)]
struct Transaction {
    access: Access,
    /// Whether the writer is ours until the end.
    writing: bool,
}

impl Session {
    pub(super) fn new(sessions: Sessions, form: Form) -> Session {
        Session { sessions, form, transaction: None }
    }

    /// Runs one statement and keeps what it did.
    pub async fn run(
        &mut self,
        access: Access,
        statement: &str,
        parameters: &Parameters,
        patience: Patience,
    ) -> Result<Answer, Refusal> {
        match self.read(statement, parameters, patience).await {
            Err(refusal) if refusal.reason == RefusalReason::AccessMode && access == Access::Write => {}
            answer => return answer,
        }
        let permit = self.sessions.turn(patience.turn).await?;
        let order = |asked| Order::Write(asked, Some(permit), Then::Commit);
        self.ask(statement, parameters, patience.time, true, order).await
    }

    /// Begins a transaction. It takes up nothing until its first write.
    pub fn begin(&mut self, access: Access) {
        self.roll_back();
        self.transaction = Some(Transaction { access, writing: false });
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
        patience: Patience,
    ) -> Result<Answer, Refusal> {
        let answer = self.inside(statement, parameters, patience).await;
        if answer.is_err() {
            self.roll_back();
        }
        answer
    }

    async fn inside(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        patience: Patience,
    ) -> Result<Answer, Refusal> {
        let Some(Transaction { access, writing }) = self.transaction else { return Err(Refusal::no_transaction()) };
        let mut permit = None;
        if !writing {
            match self.read(statement, parameters, patience).await {
                Err(refusal) if refusal.reason == RefusalReason::AccessMode && access == Access::Write => {}
                answer => return answer,
            }
            permit = Some(self.sessions.turn(patience.turn).await?);
            // Before the order is on its way: if we are cancelled, somebody must still undo it.
            self.transaction = Some(Transaction { access, writing: true });
        }
        let order = |asked| Order::Write(asked, permit, Then::StayOpen);
        self.ask(statement, parameters, patience.time, true, order).await
    }

    /// Keeps what the transaction did and ends it.
    pub async fn commit(&mut self) -> Result<(), Refusal> {
        match self.transaction.take() {
            None => Err(Refusal::no_transaction()),
            Some(Transaction { writing: false, .. }) => Ok(()),
            Some(Transaction { writing: true, .. }) => {
                let (reply, answer) = oneshot::channel();
                self.sessions.to_writer(Order::Commit(reply))?;
                answer.await.unwrap_or_else(|_| Err(Refusal::broken("The embedded graph has stopped.")))
            }
        }
    }

    /// Undoes the open transaction, if there is one. It does not wait: the writer does it before anything else.
    pub fn roll_back(&mut self) {
        if let Some(Transaction { writing: true, .. }) = self.transaction.take() {
            // A graph that has stopped has nothing to undo.
            let _ = self.sessions.to_writer(Order::RollBack);
        }
    }

    async fn read(&self, statement: &str, parameters: &Parameters, patience: Patience) -> Result<Answer, Refusal> {
        self.ask(statement, parameters, patience.time, false, Order::Read).await
    }

    async fn ask(
        &self,
        statement: &str,
        parameters: &Parameters,
        time: Duration,
        writes: bool,
        order: impl FnOnce(Asked) -> Order,
    ) -> Result<Answer, Refusal> {
        let (reply, mut answer) = oneshot::channel();
        let abandon = Abandon::default();
        let asked = Asked {
            statement: statement.to_owned(),
            parameters: parameters.clone(),
            form: self.form.clone(),
            fate: Arc::clone(&abandon.0),
            reply,
        };
        if writes {
            self.sessions.to_writer(order(asked))?;
        } else {
            self.sessions.to_reader(order(asked))?;
        }
        let answered = match tokio::time::timeout(time, &mut answer).await {
            Ok(answered) => answered,
            Err(_) if abandon.0.abandon() => {
                return Err(Refusal::timed_out(&format!(
                    "The statement took longer than {} s in the embedded graph and was given up; nothing of it was \
                     kept.{}",
                    time.as_secs_f64(),
                    abandon.0.delay()
                )));
            }
            Err(_) => answer.await,
        };
        answered.unwrap_or_else(|_| Err(Refusal::broken("The embedded graph has stopped.")))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.roll_back();
    }
}

#[cfg(test)]
mod tests;
