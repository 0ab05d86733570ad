//! Handles each message: the state machine of Bolt's server.
//! <https://neo4j.com/docs/bolt/current/bolt/server-state/>

mod login;
mod results;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

use super::DATABASE;
use super::admission::PendingClient;
use super::client::{ClientWriter, row};
use super::connection::ConnectionFlags;
use super::failure::BoltFailure;
use super::packstream::{Pack, map};
use super::request::{Batch, Request, TransactionOptions, Unreadable};
use super::server::ServerState;
use super::value::ValueFormat;
use super::version::BoltVersion;
use crate::graph::embedded::{Answer, Form, GraphSession, Timeouts};
use crate::graph::{ConversionError, Parameters};
use results::{OpenResults, milliseconds};

/// Whether the connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    /// It is unauthenticated again, and has to show the password anew.
    LogIn,
    HangUp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ConnectionState {
    /// No message was read yet.
    Connected,
    /// The client has introduced itself and must show its password.
    Introduced,
    /// Ready for a statement on its own or a transaction.
    Ready,
    /// The rows of a statement on its own are waiting.
    Streaming,
    /// In a transaction, perhaps with results.
    Transaction,
    /// The transaction was rolled back because it took too long; the client does not know yet.
    Expired(BoltFailure),
    /// Everything is ignored until RESET.
    Failed,
}

/// The server's side of one connection.
pub(super) struct Protocol {
    pub(super) client: ClientWriter,
    server: Arc<ServerState>,
    signals: Arc<ConnectionFlags>,
    version: BoltVersion,
    state: ConnectionState,
    session: GraphSession,
    results: OpenResults,
    deadline: Option<(Pin<Box<Sleep>>, Duration)>,
    place: AdmissionSlot,
}

/// Where a connection counts.
enum AdmissionSlot {
    Outside(PendingClient),
    Inside { _permit: OwnedSemaphorePermit },
}

impl Protocol {
    pub(super) fn new(
        server: Arc<ServerState>,
        version: BoltVersion,
        signals: Arc<ConnectionFlags>,
        client: ClientWriter,
        pending_client: PendingClient,
    ) -> Protocol {
        let format = ValueFormat { element_ids: version.is_five(), utc: version.is_five() };
        let session = session(&server, format);
        Protocol {
            client,
            server,
            signals,
            version,
            state: ConnectionState::Connected,
            session,
            results: OpenResults::default(),
            deadline: None,
            place: AdmissionSlot::Outside(pending_client),
        }
    }

    /// Whether the client has shown the right password.
    pub(super) fn is_trusted(&self) -> bool {
        !matches!(self.state, ConnectionState::Connected | ConnectionState::Introduced)
    }

    /// Waits until the open transaction has taken too long and rolls it back; without one it waits forever.
    pub(super) async fn expire(&mut self) {
        let Some((deadline, time)) = &mut self.deadline else { return std::future::pending().await };
        deadline.as_mut().await;
        let failure = BoltFailure::transaction_timed_out(time.as_secs_f64());
        self.leave(ConnectionState::Expired(failure));
    }

    /// Answers what is no message, and hangs up.
    pub(super) fn refuse(&mut self, unreadable: Unreadable) -> Step {
        self.client.failure(BoltFailure::invalid(unreadable.to_string()));
        Step::HangUp
    }

    /// Answers one message.
    pub(super) async fn answer(&mut self, request: Request) -> io::Result<Step> {
        match (&self.state, request) {
            (_, Request::Goodbye) => return Ok(Step::HangUp),
            (ConnectionState::Connected, Request::Hello { credentials, utc_patch }) => {
                return Ok(self.hello(&credentials, utc_patch).await);
            }
            (ConnectionState::Introduced, Request::Logon(credentials)) => return Ok(self.logon(&credentials).await),
            (ConnectionState::Connected | ConnectionState::Introduced, _) => return Ok(self.out_of_turn()),
            (_, Request::Reset) => self.reset(),
            _ if self.signals.reset() => self.client.ignored(),
            (ConnectionState::Failed, _) => self.client.ignored(),
            (ConnectionState::Expired(_), Request::Rollback) => {
                self.leave(ConnectionState::Ready);
                self.client.success([]);
            }
            (ConnectionState::Expired(failure), _) => {
                let failure = failure.clone();
                self.fail(failure);
            }
            (ConnectionState::Ready, Request::Logoff) if self.version.has_logon() => {
                self.state = ConnectionState::Introduced;
                self.signals.trust(false);
                self.client.success([]);
                return Ok(Step::LogIn);
            }
            (ConnectionState::Ready, Request::Route { database }) => self.route(database.as_deref()),
            (ConnectionState::Ready, Request::Begin(options)) => self.begin(&options),
            (
                ConnectionState::Ready | ConnectionState::Transaction,
                Request::Run { statement, parameters, options },
            ) => {
                self.run(&statement, parameters, &options).await;
            }
            (ConnectionState::Streaming | ConnectionState::Transaction, Request::Pull(batch)) => {
                self.stream(batch, true).await?;
            }
            (ConnectionState::Streaming | ConnectionState::Transaction, Request::Discard(batch)) => {
                self.stream(batch, false).await?;
            }
            (ConnectionState::Transaction, Request::Commit) => match self.session.commit().await {
                Ok(()) => {
                    self.leave(ConnectionState::Ready);
                    let bookmark = self.bookmark();
                    self.client.success([("bookmark", bookmark)]);
                }
                Err(refusal) => self.fail(refusal.into()),
            },
            (ConnectionState::Transaction, Request::Rollback) => {
                self.leave(ConnectionState::Ready);
                self.client.success([]);
            }
            (
                ConnectionState::Ready | ConnectionState::Streaming | ConnectionState::Transaction,
                Request::Telemetry,
            ) => self.client.success([]),
            _ => return Ok(self.out_of_turn()),
        }
        Ok(Step::Next)
    }

    fn reset(&mut self) {
        self.signals.reset_done();
        if self.signals.reset() {
            self.client.ignored();
        } else {
            self.leave(ConnectionState::Ready);
            self.client.success([]);
        }
    }

    fn route(&mut self, database: Option<&str>) {
        if let Err(failure) = known(database) {
            return self.fail(failure);
        }
        let server = |role: &str| {
            let addresses = Pack::List(vec![self.server.address.to_string().into()]);
            map([("addresses", addresses), ("role", role.into())])
        };
        let servers = Pack::List(["WRITE", "READ", "ROUTE"].map(server).to_vec());
        self.client.success([("rt", map([("ttl", Pack::Int(300)), ("db", DATABASE.into()), ("servers", servers)]))]);
    }

    fn begin(&mut self, options: &TransactionOptions) {
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

    async fn run(
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
            // A RESET is on its way, or nobody listens.
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
    ) -> Result<Answer, Option<BoltFailure>> {
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

    async fn stream(&mut self, batch: Batch, send: bool) -> io::Result<()> {
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
    fn bookmark(&self) -> Pack {
        format!("eval-job:{}", self.server.sessions.commits()).into()
    }

    fn fail(&mut self, failure: BoltFailure) {
        self.leave(ConnectionState::Failed);
        self.client.failure(failure);
    }

    /// Drops what is open and goes on in another state.
    fn leave(&mut self, state: ConnectionState) {
        self.session.roll_back();
        self.results = OpenResults::default();
        self.deadline = None;
        self.state = state;
    }

    fn out_of_turn(&mut self) -> Step {
        self.client.failure(BoltFailure::invalid("This message can't be sent in the connection's state."));
        Step::HangUp
    }
}

/// A session that encodes its rows for this client.
fn session(server: &Arc<ServerState>, format: ValueFormat) -> GraphSession {
    let numbers = Arc::clone(&server.numbers);
    server.sessions.session(Form::new(move |values, bytes| row(bytes, values, format, &numbers)))
}

fn acceptable(options: &TransactionOptions) -> Result<(), BoltFailure> {
    if options.impersonated {
        return Err(BoltFailure::impersonation());
    }
    known(options.database.as_deref())
}

fn known(database: Option<&str>) -> Result<(), BoltFailure> {
    match database {
        None | Some(DATABASE) => Ok(()),
        Some(other) => Err(BoltFailure::no_such_database(other)),
    }
}
