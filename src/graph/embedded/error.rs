//! Errors of a session's statement, as fine-grained as Neo4j's error codes.

use graphdblite::{ErrorCode, GraphError as Theirs, QueryError, QueryPhase};

use super::catalog::SchemaFault;
use super::engine::broken;
use crate::graph::{GraphError, GraphErrorKind};

/// Why a statement of a session failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct StatementError {
    /// Its kind.
    pub reason: StatementErrorKind,
    /// The failure, as the graph's other users see it.
    pub error: GraphError,
}

/// The kind of a statement error: each is one of Neo4j's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementErrorKind {
    /// Not Cypher, or it names a variable or function that does not exist, or its types can't fit.
    Syntax,
    /// Valid, but with these values it means nothing.
    Semantic,
    /// A value is of the wrong type.
    Type,
    /// An argument is out of its range.
    Argument,
    /// A division by zero, an overflow.
    Arithmetic,
    /// A `$parameter` was not given.
    ParameterMissing,
    /// There is no such procedure.
    Procedure,
    /// The node, relationship or property is gone.
    EntityNotFound,
    /// A node that still has relationships can't be deleted, and the like.
    Constraint,
    /// An index or constraint can't be made or dropped.
    Schema(SchemaFault),
    /// The embedded graph does not know this part of Cypher.
    Unsupported,
    /// A write where only reading is allowed.
    AccessMode,
    /// Too many rows, too much memory.
    TooLarge,
    /// It took too long and was given up.
    TimedOut,
    /// Another transaction is writing; try again.
    Locked,
    /// Our own fault.
    Broken,
}

impl StatementError {
    /// The error of a statement, from the graph's error and the engine's own, if there is one.
    pub(super) fn from_engine(error: GraphError, theirs: Option<&Theirs>) -> StatementError {
        let reason = match error.kind {
            // Libraries look for just this code to find out what a server has.
            GraphErrorKind::Unsupported if theirs.is_some_and(is_procedure) => StatementErrorKind::Procedure,
            GraphErrorKind::Unsupported => StatementErrorKind::Unsupported,
            GraphErrorKind::WriteRefused => StatementErrorKind::AccessMode,
            GraphErrorKind::Limit => StatementErrorKind::TooLarge,
            _ => theirs.map_or(StatementErrorKind::Syntax, reason),
        };
        StatementError { reason, error }
    }

    /// A statement that is none, or means nothing.
    pub(super) fn statement(message: impl Into<String>) -> StatementError {
        GraphError::new(GraphErrorKind::Statement, message.into()).into()
    }

    /// A value that can be no parameter.
    pub(super) fn parameter(error: GraphError) -> StatementError {
        let mut refusal = StatementError::from(error);
        if refusal.reason == StatementErrorKind::Syntax {
            refusal.reason = StatementErrorKind::Type;
        }
        refusal
    }

    pub(super) fn broken(message: &str) -> StatementError {
        StatementError::new(StatementErrorKind::Broken, GraphErrorKind::Other, message)
    }

    pub(super) fn stopped() -> StatementError {
        StatementError::broken("The embedded graph has stopped.")
    }

    pub(super) fn locked(message: &str) -> StatementError {
        StatementError::new(StatementErrorKind::Locked, GraphErrorKind::Limit, message)
    }

    pub(super) fn timed_out(message: &str) -> StatementError {
        StatementError::new(StatementErrorKind::TimedOut, GraphErrorKind::Limit, message)
    }

    pub(super) fn no_transaction() -> StatementError {
        StatementError::broken("No transaction is open here.")
    }

    pub(super) fn gave_up() -> StatementError {
        StatementError::timed_out("The statement was given up; nothing of it was kept.")
    }

    fn new(reason: StatementErrorKind, kind: GraphErrorKind, message: &str) -> StatementError {
        StatementError { reason, error: GraphError::new(kind, message.to_owned()) }
    }
}

impl From<GraphError> for StatementError {
    fn from(error: GraphError) -> StatementError {
        StatementError::from_engine(error, None)
    }
}

/// Errors of the engine outside of a statement.
impl From<Theirs> for StatementError {
    fn from(theirs: Theirs) -> StatementError {
        StatementError::from_engine(broken(&theirs), Some(&theirs))
    }
}

fn reason(theirs: &Theirs) -> StatementErrorKind {
    match theirs {
        Theirs::Query(query) => in_query(query),
        Theirs::HasEdges { .. } => StatementErrorKind::Constraint,
        Theirs::NodeNotFound { .. } | Theirs::EdgeNotFound { .. } => StatementErrorKind::EntityNotFound,
        Theirs::SizeLimit { .. } => StatementErrorKind::TooLarge,
        Theirs::InvalidName { .. } => StatementErrorKind::Unsupported,
        Theirs::Storage { .. } if is_locked(theirs) => StatementErrorKind::Locked,
        _ => StatementErrorKind::Broken,
    }
}

fn is_procedure(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Query(query) if query.code() == ErrorCode::ProcedureNotFound)
}

/// SQLite's two messages for a lock that did not come free in time.
fn is_locked(theirs: &Theirs) -> bool {
    let message = theirs.to_string();
    message.contains("database is locked") || message.contains("database table is locked")
}

fn in_query(query: &QueryError) -> StatementErrorKind {
    match query.code() {
        ErrorCode::MissingParameter => StatementErrorKind::ParameterMissing,
        // The engine has a code for it and does not use it everywhere.
        _ if query.message().starts_with("missing parameter: $") => StatementErrorKind::ParameterMissing,
        ErrorCode::ProcedureNotFound => StatementErrorKind::Procedure,
        ErrorCode::DivisionByZero => StatementErrorKind::Arithmetic,
        ErrorCode::DeleteConnectedNode => StatementErrorKind::Constraint,
        ErrorCode::DeletedEntityAccess => StatementErrorKind::EntityNotFound,
        ErrorCode::InvalidPropertyType | ErrorCode::MapElementAccessByNonString => StatementErrorKind::Type,
        ErrorCode::InvalidArgumentValue | ErrorCode::NegativeIntegerArgument | ErrorCode::NumberOutOfRange => {
            StatementErrorKind::Argument
        }
        // Neo4j calls every compile-time error a syntax error.
        _ if query.phase() != QueryPhase::Runtime => StatementErrorKind::Syntax,
        ErrorCode::InvalidArgumentType => StatementErrorKind::Type,
        _ if query.message().starts_with("InvalidArgumentType") => StatementErrorKind::Type,
        _ => match query {
            QueryError::SyntaxError { .. } => StatementErrorKind::Syntax,
            QueryError::TypeError { .. } => StatementErrorKind::Type,
            QueryError::ArithmeticError { .. } => StatementErrorKind::Arithmetic,
            QueryError::EntityNotFound { .. } => StatementErrorKind::EntityNotFound,
            QueryError::ConstraintViolation { .. } => StatementErrorKind::Constraint,
            QueryError::ProcedureError { .. } => StatementErrorKind::Procedure,
            QueryError::SemanticError { .. } => StatementErrorKind::Semantic,
            _ => StatementErrorKind::Argument,
        },
    }
}
