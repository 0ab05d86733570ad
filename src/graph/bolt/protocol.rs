//! Handles each message: the state machine of Bolt's server.
//! <https://neo4j.com/docs/bolt/current/bolt/server-state/>

mod login;
mod results;
mod statements;

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
use super::request::{BoltRequest, Unreadable};
use super::server::ServerState;
use super::value::ValueFormat;
use super::version::BoltVersion;
use crate::graph::embedded::{Form, GraphSession};
use results::OpenResults;

/// Whether the connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionStep {
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
    pub(super) fn refuse(&mut self, unreadable: Unreadable) -> ConnectionStep {
        self.client.failure(BoltFailure::invalid(unreadable.to_string()));
        ConnectionStep::HangUp
    }

    /// Answers one message.
    pub(super) async fn answer(&mut self, request: BoltRequest) -> io::Result<ConnectionStep> {
        match (&self.state, request) {
            (_, BoltRequest::Goodbye) => return Ok(ConnectionStep::HangUp),
            (ConnectionState::Connected, BoltRequest::Hello { credentials, utc_patch }) => {
                return Ok(self.hello(&credentials, utc_patch).await);
            }
            (ConnectionState::Introduced, BoltRequest::Logon(credentials)) => {
                return Ok(self.logon(&credentials).await);
            }
            (ConnectionState::Connected | ConnectionState::Introduced, _) => return Ok(self.out_of_turn()),
            (_, BoltRequest::Reset) => self.reset(),
            _ if self.signals.reset() => self.client.ignored(),
            (ConnectionState::Failed, _) => self.client.ignored(),
            (ConnectionState::Expired(_), BoltRequest::Rollback) => {
                self.leave(ConnectionState::Ready);
                self.client.success([]);
            }
            (ConnectionState::Expired(failure), _) => {
                let failure = failure.clone();
                self.fail(failure);
            }
            (ConnectionState::Ready, BoltRequest::Logoff) if self.version.has_logon() => {
                self.state = ConnectionState::Introduced;
                self.signals.trust(false);
                self.client.success([]);
                return Ok(ConnectionStep::LogIn);
            }
            (ConnectionState::Ready, BoltRequest::Route { database }) => self.route(database.as_deref()),
            (ConnectionState::Ready, BoltRequest::Begin(options)) => self.begin(&options),
            (
                ConnectionState::Ready | ConnectionState::Transaction,
                BoltRequest::Run { statement, parameters, options },
            ) => {
                self.run(&statement, parameters, &options).await;
            }
            (ConnectionState::Streaming | ConnectionState::Transaction, BoltRequest::Pull(batch)) => {
                self.stream(batch, true).await?;
            }
            (ConnectionState::Streaming | ConnectionState::Transaction, BoltRequest::Discard(batch)) => {
                self.stream(batch, false).await?;
            }
            (ConnectionState::Transaction, BoltRequest::Commit) => match self.session.commit().await {
                Ok(()) => {
                    self.leave(ConnectionState::Ready);
                    let bookmark = self.bookmark();
                    self.client.success([("bookmark", bookmark)]);
                }
                Err(refusal) => self.fail(refusal.into()),
            },
            (ConnectionState::Transaction, BoltRequest::Rollback) => {
                self.leave(ConnectionState::Ready);
                self.client.success([]);
            }
            (
                ConnectionState::Ready | ConnectionState::Streaming | ConnectionState::Transaction,
                BoltRequest::Telemetry,
            ) => self.client.success([]),
            _ => return Ok(self.out_of_turn()),
        }
        Ok(ConnectionStep::Next)
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

    fn out_of_turn(&mut self) -> ConnectionStep {
        self.client.failure(BoltFailure::invalid("This message can't be sent in the connection's state."));
        ConnectionStep::HangUp
    }
}

/// A session that encodes its rows for this client.
fn session(server: &Arc<ServerState>, format: ValueFormat) -> GraphSession {
    let numbers = Arc::clone(&server.numbers);
    server.sessions.session(Form::new(move |values, bytes| row(bytes, values, format, &numbers)))
}

fn known(database: Option<&str>) -> Result<(), BoltFailure> {
    match database {
        None | Some(DATABASE) => Ok(()),
        Some(other) => Err(BoltFailure::no_such_database(other)),
    }
}
