//! A connection to a team's store: made for one piece of work, and bounded in time.

use std::error::Error as _;
use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls};

use super::TeamError;
use super::address::Address;
use super::schema::{self, SchemaError};
use super::tls::Tls;

/// How long a statement may take.
const STATEMENT: Duration = Duration::from_secs(60);

/// A connection whose tables are of this version.
pub(super) struct Connected {
    pub(super) client: Client,
    /// The address without login.
    pub(super) server: String,
}

/// Connects, and brings the tables to this version.
pub(super) async fn connected(address: &Address) -> Result<Connected, TeamError> {
    let server = address.shown.clone();
    let mut client = match address.config.get_ssl_mode() {
        SslMode::Disable => {
            let (client, connection) =
                bounded(&server, address.config.connect(NoTls)).await?.map_err(|error| team_error(&server, &error))?;
            tokio::spawn(connection);
            client
        }
        _ => {
            let tls = Tls::new(&address.checked).map_err(|error| TeamError::Address(error.to_string()))?;
            let (client, connection) =
                bounded(&server, address.config.connect(tls)).await?.map_err(|error| team_error(&server, &error))?;
            tokio::spawn(connection);
            client
        }
    };
    match bounded(&server, schema::migrate(&mut client)).await? {
        Ok(()) => Ok(Connected { client, server }),
        Err(SchemaError::Newer) => Err(TeamError::Newer(server)),
        Err(SchemaError::Database(error)) => Err(team_error(&server, &error)),
        Err(error @ SchemaError::Migration(_)) => Err(TeamError::Failed { server, why: error.to_string() }),
    }
}

impl Connected {
    /// The result of a statement, within the time limit.
    pub(super) async fn bounded<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, TeamError> {
        bounded(&self.server, work).await?.map_err(|error| team_error(&self.server, &error))
    }

    /// It could not do what it was asked for.
    pub(super) fn failed(&self, why: impl Display) -> TeamError {
        TeamError::Failed { server: self.server.clone(), why: why.to_string() }
    }
}

async fn bounded<T>(server: &str, work: impl Future<Output = T>) -> Result<T, TeamError> {
    let why = || format!("it did not answer within {} s", STATEMENT.as_secs());
    tokio::time::timeout(STATEMENT, work).await.map_err(|_| TeamError::Away { server: server.to_owned(), why: why() })
}

/// The error of a team's store for an error of the database.
fn team_error(server: &str, error: &Error) -> TeamError {
    let server = server.to_owned();
    let Some(refusal) = error.as_db_error() else {
        let why = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        return TeamError::Away { server, why };
    };
    let why = refusal.message().to_owned();
    let code = refusal.code();
    let is_away = code.code().starts_with("57P") || code.code().starts_with("53") || code.code().starts_with("08");
    match *code {
        SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INVALID_CATALOG_NAME
        | SqlState::INSUFFICIENT_PRIVILEGE => TeamError::Refused { server, why },
        _ if is_away => TeamError::Away { server, why },
        _ => TeamError::Failed { server, why },
    }
}
