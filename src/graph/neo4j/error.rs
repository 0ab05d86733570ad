//! The driver's and the server's errors as ours.

use neo4rs::Error as Theirs;

use crate::graph::{GraphError, GraphErrorKind};
use crate::http::certificate_problem;

/// An error, and whether the server calls it transient.
pub(super) struct Neo4jFailure {
    pub(super) error: GraphError,
    pub(super) transient: bool,
}

impl From<GraphError> for Neo4jFailure {
    fn from(error: GraphError) -> Neo4jFailure {
        Neo4jFailure { error, transient: false }
    }
}

/// Whether the server calls an error transient: a deadlock, a lock that was not had in time, too little memory just now.
/// The driver has already renamed the two codes of which the server says otherwise.
pub(super) fn is_transient(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Neo4j(error) if error.code().split('.').nth(1) == Some("TransientError"))
}

/// Whether the server ended a query because it took as long as we allow it.
pub(super) fn is_our_limit(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Neo4j(error) if error.code().ends_with("TransactionTimedOutClientConfiguration"))
}

/// A driver's error as ours, with its whole message.
pub(super) fn from_driver(uri: &str, theirs: &Theirs) -> GraphError {
    let (kind, message) = match theirs {
        Theirs::Neo4j(error) => (
            kind(error.code(), error.message()),
            format!("Neo4j says: {} ({})", one_line(error.message()), error.code()),
        ),
        Theirs::AuthenticationError(reason) => (
            GraphErrorKind::Unauthorized,
            format!(
                "Neo4j at {uri} refuses the login: {}. Check NEO_USERNAME and NEO_PASSWORD.",
                reason.trim_end_matches('.')
            ),
        ),
        Theirs::UrlParseError(_) | Theirs::UnsupportedScheme(_) | Theirs::InvalidConfig => (
            GraphErrorKind::Other,
            format!("{uri} is no address of a Neo4j database ({theirs}). Try bolt://localhost:7687 or neo4j+s://HOST."),
        ),
        Theirs::IOError { detail } => {
            let message = match certificate_problem(detail) {
                Some(doubt) => format!(
                    "Neo4j at {uri} can't be reached: its certificate {doubt}. A scheme with +ssc takes any certificate."
                ),
                None => unreachable(uri, &theirs.to_string()).message,
            };
            (GraphErrorKind::Unreachable, message)
        }
        Theirs::InvalidDnsName(_)
        | Theirs::ConnectionError
        | Theirs::ConnectionTimedOut
        | Theirs::IncompleteBoltExchange
        | Theirs::UnsupportedVersion(..)
        | Theirs::ProtocolMismatch(_)
        | Theirs::ServerUnavailableError(_)
        | Theirs::RequestIgnoredError => (GraphErrorKind::Unreachable, unreachable(uri, &theirs.to_string()).message),
        _ => (GraphErrorKind::Other, format!("Neo4j at {uri}: {theirs}")),
    };
    GraphError::new(kind, message)
}

/// The error for a server that can't be reached.
pub(super) fn unreachable(uri: &str, reason: &str) -> GraphError {
    GraphError::new(
        GraphErrorKind::Unreachable,
        format!("Neo4j at {uri} can't be reached: {reason}. Is it running, and is the scheme (bolt, bolt+s) right?"),
    )
}

/// The kind of an error by the server's status code.
fn kind(code: &str, message: &str) -> GraphErrorKind {
    match code.split('.').collect::<Vec<_>>().as_slice() {
        [_, _, "Statement", "AccessMode"] | [_, _, "General", "ForbiddenOnReadOnlyDatabase"] => {
            GraphErrorKind::WriteRefused
        }
        [_, _, "Security", "Forbidden"] => GraphErrorKind::Other,
        [_, _, "Security", _] => GraphErrorKind::Unauthorized,
        [_, _, "Transaction", "TransactionTimedOut" | "TransactionTimedOutClientConfiguration"]
        | [_, _, "General", "MemoryPoolOutOfMemoryError" | "OutOfMemoryError" | "TransactionOutOfMemoryError"] => {
            GraphErrorKind::Limit
        }
        [_, "ClientError", "Statement" | "Schema" | "Procedure", _] => GraphErrorKind::Statement,
        // What goes wrong while a valid statement runs (a deleted node with relationships, a negative start).
        [_, "DatabaseError", "Statement", _] if !message.is_empty() => GraphErrorKind::Statement,
        _ => GraphErrorKind::Other,
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_which_side_is_at_fault() {
        for (code, expected) in [
            ("Neo.ClientError.Statement.SyntaxError", GraphErrorKind::Statement),
            ("Neo.ClientError.Statement.ParameterMissing", GraphErrorKind::Statement),
            ("Neo.ClientError.Statement.AccessMode", GraphErrorKind::WriteRefused),
            ("Neo.ClientError.Schema.ConstraintValidationFailed", GraphErrorKind::Statement),
            ("Neo.ClientError.Security.Unauthorized", GraphErrorKind::Unauthorized),
            ("Neo.ClientError.Security.AuthenticationRateLimit", GraphErrorKind::Unauthorized),
            ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", GraphErrorKind::Limit),
            ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", GraphErrorKind::Limit),
            ("Neo.DatabaseError.Statement.ExecutionFailed", GraphErrorKind::Statement),
            ("Neo.ClientError.Database.DatabaseNotFound", GraphErrorKind::Other),
            ("nonsense", GraphErrorKind::Other),
        ] {
            assert_eq!(kind(code, "message"), expected, "{code}");
        }
    }
}
