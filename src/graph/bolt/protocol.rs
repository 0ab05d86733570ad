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
use super::connection::Signals;
use super::failure::BoltFailure;
use super::packstream::{Pack, map};
use super::request::{Batch, Request, TransactionOptions, Unreadable};
use super::server::ServerState;
use super::value::ValueFormat;
use super::version::BoltVersion;
use crate::graph::embedded::{Answer, Form, Session, Timeouts};
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
enum State {
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
    signals: Arc<Signals>,
    version: BoltVersion,
    state: State,
    session: Session,
    results: OpenResults,
    deadline: Option<(Pin<Box<Sleep>>, Duration)>,
    place: Place,
}

/// Where a connection counts.
enum Place {
    Outside(PendingClient),
    Inside { _permit: OwnedSemaphorePermit },
}

impl Protocol {
    pub(super) fn new(
        server: Arc<ServerState>,
        version: BoltVersion,
        signals: Arc<Signals>,
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
            state: State::Connected,
            session,
            results: OpenResults::default(),
            deadline: None,
            place: Place::Outside(pending_client),
        }
    }

    /// Whether the client has shown the right password.
    pub(super) fn is_trusted(&self) -> bool {
        !matches!(self.state, State::Connected | State::Introduced)
    }

    /// Waits until the open transaction has taken too long and rolls it back; without one it waits forever.
    pub(super) async fn expire(&mut self) {
        let Some((deadline, time)) = &mut self.deadline else { return std::future::pending().await };
        deadline.as_mut().await;
        let failure = BoltFailure::transaction_timed_out(time.as_secs_f64());
        self.leave(State::Expired(failure));
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
            (State::Connected, Request::Hello { credentials, utc_patch }) => {
                return Ok(self.hello(&credentials, utc_patch).await);
            }
            (State::Introduced, Request::Logon(credentials)) => return Ok(self.logon(&credentials).await),
            (State::Connected | State::Introduced, _) => return Ok(self.out_of_turn()),
            (_, Request::Reset) => self.reset(),
            _ if self.signals.reset() => self.client.ignored(),
            (State::Failed, _) => self.client.ignored(),
            (State::Expired(_), Request::Rollback) => {
                self.leave(State::Ready);
                self.client.success([]);
            }
            (State::Expired(failure), _) => {
                let failure = failure.clone();
                self.fail(failure);
            }
            (State::Ready, Request::Logoff) if self.version.has_logon() => {
                self.state = State::Introduced;
                self.signals.trust(false);
                self.client.success([]);
                return Ok(Step::LogIn);
            }
            (State::Ready, Request::Route { database }) => self.route(database.as_deref()),
            (State::Ready, Request::Begin(options)) => self.begin(&options),
            (State::Ready | State::Transaction, Request::Run { statement, parameters, options }) => {
                self.run(&statement, parameters, &options).await;
            }
            (State::Streaming | State::Transaction, Request::Pull(batch)) => {
                self.stream(batch, true).await?;
            }
            (State::Streaming | State::Transaction, Request::Discard(batch)) => {
                self.stream(batch, false).await?;
            }
            (State::Transaction, Request::Commit) => match self.session.commit().await {
                Ok(()) => {
                    self.leave(State::Ready);
                    let bookmark = self.bookmark();
                    self.client.success([("bookmark", bookmark)]);
                }
                Err(refusal) => self.fail(refusal.into()),
            },
            (State::Transaction, Request::Rollback) => {
                self.leave(State::Ready);
                self.client.success([]);
            }
            (State::Ready | State::Streaming | State::Transaction, Request::Telemetry) => self.client.success([]),
            _ => return Ok(self.out_of_turn()),
        }
        Ok(Step::Next)
    }

    fn reset(&mut self) {
        self.signals.reset_done();
        if self.signals.reset() {
            self.client.ignored();
        } else {
            self.leave(State::Ready);
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
        self.state = State::Transaction;
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
                if self.state == State::Transaction {
                    metadata.push(("qid".to_owned(), Pack::Int(number)));
                } else {
                    self.state = State::Streaming;
                }
                self.client.succeed(Pack::Map(metadata));
            }
            Err(Some(failure)) => self.fail(failure),
            // A RESET is on its way, or nobody listens.
            Err(None) => {
                self.leave(State::Failed);
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
        let answered = if self.state == State::Transaction {
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
        let number = batch.result.filter(|_| self.state != State::Streaming);
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
        if self.state == State::Streaming {
            summary.push(("bookmark".to_owned(), self.bookmark()));
        }
        self.results.close(number);
        self.client.succeed(Pack::Map(summary));
        if self.state == State::Streaming {
            self.leave(State::Ready);
        }
        Ok(())
    }

    /// Whoever shows it has seen everything that was committed before: all do, always.
    fn bookmark(&self) -> Pack {
        format!("eval-job:{}", self.server.sessions.commits()).into()
    }

    fn fail(&mut self, failure: BoltFailure) {
        self.leave(State::Failed);
        self.client.failure(failure);
    }

    /// Drops what is open and goes on in another state.
    fn leave(&mut self, state: State) {
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
fn session(server: &Arc<ServerState>, format: ValueFormat) -> Session {
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
