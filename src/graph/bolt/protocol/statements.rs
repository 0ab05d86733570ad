//! Transactions and statements: BEGIN, RUN, PULL and DISCARD.

use std::io;
use std::sync::Arc;

use super::results::{self, OpenResults, milliseconds};
use super::{ConnectionState, DATABASE, Protocol, known};
use crate::graph::bolt::failure::BoltFailure;
use crate::graph::bolt::packstream::Pack;
use crate::graph::bolt::request::{Batch, TransactionOptions};
use crate::graph::embedded::{StatementResult, Timeouts};
use crate::graph::{ConversionError, Parameters};

impl Protocol {
    pub(super) fn begin(&mut self, options: &TransactionOptions) {
        if let Err(failure) = acceptable(options) {
            return self.fail(failure);
        }
        let most = self.server.settings.limits.transaction;
        let time = options.time.map_or(most, |time| time.min(most));
        self.session.begin(options.access);
        self.deadline = Some((Box::pin(tokio::time::sleep(time)), time));
        self.state = ConnectionState::Transaction;
        self.results = OpenResults::default();
        self.client.success([("db", DATABASE.into())]);
    }

    pub(super) async fn run(
        &mut self,
        statement: &str,
        parameters: Result<Parameters, ConversionError>,
        options: &TransactionOptions,
    ) {
        let parameters = match (acceptable(options), parameters) {
            (Err(failure), _) => return self.fail(failure),
            (_, Err(error)) => return self.fail(BoltFailure::parameter(error.to_string())),
            (Ok(()), Ok(parameters)) => parameters,
        };
        if self.results.are_too_many() {
            return self.fail(BoltFailure::too_many_results(results::MOST));
        }
        let watch = self.server.settings.clock.start();
        match self.ask(statement, &parameters, options).await {
            Ok(mut answer) => {
                let columns = std::mem::take(&mut answer.columns);
                let fields = Pack::List(columns.into_iter().map(Pack::String).collect());
                let mut metadata = vec![
                    ("fields".to_owned(), fields),
                    ("t_first".to_owned(), milliseconds(watch)),
                    ("db".to_owned(), DATABASE.into()),
                ];
                let number = self.results.open(answer, self.server.settings.clock.start());
                if self.state == ConnectionState::Transaction {
                    metadata.push(("qid".to_owned(), Pack::Int(number)));
                } else {
                    self.state = ConnectionState::Streaming;
                }
                self.client.succeed(Pack::Map(metadata));
            }
            Err(Some(failure)) => self.fail(failure),
            // A RESET is on its way, or the client is gone.
            Err(None) => {
                self.leave(ConnectionState::Failed);
                self.client.ignored();
            }
        }
    }

    /// Runs a statement unless it is interrupted (`None`).
    async fn ask(
        &mut self,
        statement: &str,
        parameters: &Parameters,
        options: &TransactionOptions,
    ) -> Result<StatementResult, Option<BoltFailure>> {
        let limits = self.server.settings.limits;
        let signals = Arc::clone(&self.signals);
        let answered = if self.state == ConnectionState::Transaction {
            let Some((deadline, time)) = &mut self.deadline else { return Err(None) };
            let timeouts = Timeouts { statement: limits.query, turn: limits.turn };
            tokio::select! {
                answered = self.session.run_inside(statement, parameters, timeouts) => answered,
                () = deadline.as_mut() => return Err(Some(BoltFailure::transaction_timed_out(time.as_secs_f64()))),
                () = signals.interrupted() => return Err(None),
            }
        } else {
            let time = options.time.map_or(limits.query, |time| time.min(limits.query));
            let timeouts = Timeouts { statement: time, turn: limits.turn };
            tokio::select! {
                answered = self.session.run(options.access, statement, parameters, timeouts) => answered,
                () = signals.interrupted() => return Err(None),
            }
        };
        answered.map_err(|refusal| Some(refusal.into()))
    }

    pub(super) async fn stream(&mut self, batch: Batch, send: bool) -> io::Result<()> {
        let number = batch.result.filter(|_| self.state != ConnectionState::Streaming);
        let Some(open) = self.results.get(number) else {
            let number = number.unwrap_or(self.results.last());
            self.fail(BoltFailure::invalid(format!("There is no open result {number}.")));
            return Ok(());
        };
        let count = batch.rows.unwrap_or(usize::MAX);
        for _ in 0..count {
            let Some(row) = open.fetch() else { break };
            if send {
                self.client.record(row).await?;
                if self.signals.reset() {
                    break;
                }
            }
        }
        if !open.is_empty() {
            self.client.success([("has_more", true.into())]);
            return Ok(());
        }
        let mut summary = open.summary();
        if self.state == ConnectionState::Streaming {
            summary.push(("bookmark".to_owned(), self.bookmark()));
        }
        self.results.close(number);
        self.client.succeed(Pack::Map(summary));
        if self.state == ConnectionState::Streaming {
            self.leave(ConnectionState::Ready);
        }
        Ok(())
    }

    /// Whoever shows it has seen everything that was committed before: all do, always.
    pub(super) fn bookmark(&self) -> Pack {
        format!("eval-job:{}", self.server.sessions.commits()).into()
    }
}

fn acceptable(options: &TransactionOptions) -> Result<(), BoltFailure> {
    if options.impersonated {
        return Err(BoltFailure::impersonation());
    }
    known(options.database.as_deref())
}
