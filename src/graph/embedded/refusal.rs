//! Why a session's statement gave no rows, precisely enough for a client that knows Neo4j's error codes.

use graphdblite::{ErrorCode, GraphError as Theirs, QueryError, QueryPhase};

use super::catalog::SchemaFault;
use super::engine::broken;
use crate::graph::{GraphError, GraphErrorKind};

/// Why a statement of a session failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Refusal {
    /// What sort of failure it is.
    pub reason: RefusalReason,
    /// The failure, as the graph's other users see it.
    pub error: GraphError,
}

/// What sort of failure it is: each is one of Neo4j's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
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

impl Refusal {
    /// A refusal out of the graph's error and what the engine said, if it did.
    pub(super) fn from_engine(error: GraphError, theirs: Option<&Theirs>) -> Refusal {
        let reason = match error.kind {
            // Libraries look for just this code to find out what a server has.
            GraphErrorKind::Unsupported if theirs.is_some_and(is_procedure) => RefusalReason::Procedure,
            GraphErrorKind::Unsupported => RefusalReason::Unsupported,
            GraphErrorKind::WriteRefused => RefusalReason::AccessMode,
            GraphErrorKind::Limit => RefusalReason::TooLarge,
            _ => theirs.map_or(RefusalReason::Syntax, reason),
        };
        Refusal { reason, error }
    }

    /// A statement that is none, or means nothing.
    pub(super) fn statement(message: impl Into<String>) -> Refusal {
        GraphError { kind: GraphErrorKind::Statement, message: message.into() }.into()
    }

    /// A value that can be no parameter.
    pub(super) fn parameter(error: GraphError) -> Refusal {
        let mut refusal = Refusal::from(error);
        if refusal.reason == RefusalReason::Syntax {
            refusal.reason = RefusalReason::Type;
        }
        refusal
    }

    pub(super) fn broken(message: &str) -> Refusal {
        Refusal::new(RefusalReason::Broken, GraphErrorKind::Other, message)
    }

    pub(super) fn stopped() -> Refusal {
        Refusal::broken("The embedded graph has stopped.")
    }

    pub(super) fn locked(message: &str) -> Refusal {
        Refusal::new(RefusalReason::Locked, GraphErrorKind::Limit, message)
    }

    pub(super) fn timed_out(message: &str) -> Refusal {
        Refusal::new(RefusalReason::TimedOut, GraphErrorKind::Limit, message)
    }

    pub(super) fn no_transaction() -> Refusal {
        Refusal::broken("No transaction is open here.")
    }

    pub(super) fn gave_up() -> Refusal {
        Refusal::timed_out("The statement was given up; nothing of it was kept.")
    }

    fn new(reason: RefusalReason, kind: GraphErrorKind, message: &str) -> Refusal {
        Refusal { reason, error: GraphError { kind, message: message.to_owned() } }
    }
}

impl From<GraphError> for Refusal {
    fn from(error: GraphError) -> Refusal {
        Refusal::from_engine(error, None)
    }
}

/// What goes wrong beside a statement.
impl From<Theirs> for Refusal {
    fn from(theirs: Theirs) -> Refusal {
        Refusal::from_engine(broken(&theirs), Some(&theirs))
    }
}

fn reason(theirs: &Theirs) -> RefusalReason {
    match theirs {
        Theirs::Query(query) => in_query(query),
        Theirs::HasEdges { .. } => RefusalReason::Constraint,
        Theirs::NodeNotFound { .. } | Theirs::EdgeNotFound { .. } => RefusalReason::EntityNotFound,
        Theirs::SizeLimit { .. } => RefusalReason::TooLarge,
        Theirs::InvalidName { .. } => RefusalReason::Unsupported,
        Theirs::Storage { .. } if is_locked(theirs) => RefusalReason::Locked,
        _ => RefusalReason::Broken,
    }
}

fn is_procedure(theirs: &Theirs) -> bool {
    matches!(theirs, Theirs::Query(query) if query.code() == ErrorCode::ProcedureNotFound)
}

/// SQLite's two words for a lock that did not come free in time.
fn is_locked(theirs: &Theirs) -> bool {
    let words = theirs.to_string();
    words.contains("database is locked") || words.contains("database table is locked")
}

fn in_query(query: &QueryError) -> RefusalReason {
    match query.code() {
        ErrorCode::MissingParameter => RefusalReason::ParameterMissing,
        // The engine has a code for it and does not use it everywhere.
        _ if query.message().starts_with("missing parameter: $") => RefusalReason::ParameterMissing,
        ErrorCode::ProcedureNotFound => RefusalReason::Procedure,
        ErrorCode::DivisionByZero => RefusalReason::Arithmetic,
        ErrorCode::DeleteConnectedNode => RefusalReason::Constraint,
        ErrorCode::DeletedEntityAccess => RefusalReason::EntityNotFound,
        ErrorCode::InvalidPropertyType | ErrorCode::MapElementAccessByNonString => RefusalReason::Type,
        ErrorCode::InvalidArgumentValue | ErrorCode::NegativeIntegerArgument | ErrorCode::NumberOutOfRange => {
            RefusalReason::Argument
        }
        // What the compiler finds is a syntax error in Neo4j's book, whatever it is about.
        _ if query.phase() != QueryPhase::Runtime => RefusalReason::Syntax,
        ErrorCode::InvalidArgumentType => RefusalReason::Type,
        _ if query.message().starts_with("InvalidArgumentType") => RefusalReason::Type,
        _ => match query {
            QueryError::SyntaxError { .. } => RefusalReason::Syntax,
            QueryError::TypeError { .. } => RefusalReason::Type,
            QueryError::ArithmeticError { .. } => RefusalReason::Arithmetic,
            QueryError::EntityNotFound { .. } => RefusalReason::EntityNotFound,
            QueryError::ConstraintViolation { .. } => RefusalReason::Constraint,
            QueryError::ProcedureError { .. } => RefusalReason::Procedure,
            QueryError::SemanticError { .. } => RefusalReason::Semantic,
            _ => RefusalReason::Argument,
        },
    }
}
