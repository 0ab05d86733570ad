//! Failures by Neo4j's codes, out of which drivers make their exceptions: `ClientError` is the caller's matter,
//! `TransientError` is tried again, `DatabaseError` is the server's matter.
//! <https://neo4j.com/docs/status-codes/current/errors/all-errors/>

use crate::graph::embedded::{SchemaFault, StatementError, StatementErrorKind};

/// The FAILURE message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoltFailure {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl BoltFailure {
    fn new(code: &'static str, message: impl Into<String>) -> BoltFailure {
        BoltFailure { code, message: message.into() }
    }

    /// Wrong credentials. It does not say which of them.
    pub(super) fn unauthorized() -> BoltFailure {
        BoltFailure::new(
            "Neo.ClientError.Security.Unauthorized",
            "The client is unauthorized due to authentication failure: use the username and password of this server.",
        )
    }

    /// More clients than there are places. Drivers try again.
    pub(super) fn too_many_connections(most: usize) -> BoltFailure {
        BoltFailure::new(
            "Neo.TransientError.Request.NoThreadsAvailable",
            format!("{most} connections are open, and this server has no more places. Close some and try again."),
        )
    }

    /// A message that makes no sense, or not now.
    pub(super) fn invalid(message: impl Into<String>) -> BoltFailure {
        BoltFailure::new("Neo.ClientError.Request.Invalid", message)
    }

    pub(super) fn no_such_database(name: &str) -> BoltFailure {
        BoltFailure::new(
            "Neo.ClientError.Database.DatabaseNotFound",
            format!("There is no database `{name}` here. The embedded graph has one, `{}`.", super::DATABASE),
        )
    }

    pub(super) fn impersonation() -> BoltFailure {
        BoltFailure::new("Neo.ClientError.Security.Forbidden", "The embedded graph has one user and no impersonation.")
    }

    /// A parameter that the graph can't take.
    pub(super) fn parameter(message: String) -> BoltFailure {
        BoltFailure::new("Neo.ClientError.Statement.TypeError", message)
    }

    /// More results at once than a transaction may have.
    pub(super) fn too_many_results(most: usize) -> BoltFailure {
        BoltFailure::new(
            "Neo.ClientError.General.TransactionOutOfMemoryError",
            format!(
                "More than {most} results are open in this transaction. Fetch or discard the rows of earlier ones."
            ),
        )
    }

    /// A transaction that was open for too long.
    pub(super) fn transaction_timed_out(seconds: f64) -> BoltFailure {
        BoltFailure::new(
            "Neo.ClientError.Transaction.TransactionTimedOut",
            format!("The transaction was open for longer than {seconds} s and was rolled back."),
        )
    }
}

impl From<StatementError> for BoltFailure {
    fn from(refusal: StatementError) -> BoltFailure {
        let code = match refusal.reason {
            StatementErrorKind::Syntax => "Neo.ClientError.Statement.SyntaxError",
            StatementErrorKind::Semantic => "Neo.ClientError.Statement.SemanticError",
            StatementErrorKind::Type => "Neo.ClientError.Statement.TypeError",
            StatementErrorKind::Argument => "Neo.ClientError.Statement.ArgumentError",
            StatementErrorKind::Arithmetic => "Neo.ClientError.Statement.ArithmeticError",
            StatementErrorKind::ParameterMissing => "Neo.ClientError.Statement.ParameterMissing",
            StatementErrorKind::Procedure => "Neo.ClientError.Procedure.ProcedureNotFound",
            StatementErrorKind::EntityNotFound => "Neo.ClientError.Statement.EntityNotFound",
            StatementErrorKind::Constraint => "Neo.ClientError.Schema.ConstraintValidationFailed",
            StatementErrorKind::Schema(fault) => schema(fault),
            StatementErrorKind::Unsupported => "Neo.ClientError.Statement.UnsupportedOperationError",
            StatementErrorKind::AccessMode => "Neo.ClientError.Statement.AccessMode",
            // Not a transient one: it would be as large the next time.
            StatementErrorKind::TooLarge => "Neo.ClientError.General.TransactionOutOfMemoryError",
            StatementErrorKind::TimedOut => "Neo.ClientError.Transaction.TransactionTimedOut",
            StatementErrorKind::Locked => "Neo.TransientError.Transaction.LockAcquisitionTimeout",
            StatementErrorKind::Broken => "Neo.DatabaseError.General.UnknownError",
        };
        BoltFailure { code, message: refusal.error.message }
    }
}

fn schema(fault: SchemaFault) -> &'static str {
    match fault {
        SchemaFault::Equivalent => "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        SchemaFault::IndexExists => "Neo.ClientError.Schema.IndexAlreadyExists",
        SchemaFault::IndexNamed => "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
        SchemaFault::ConstraintExists => "Neo.ClientError.Schema.ConstraintAlreadyExists",
        SchemaFault::ConstraintNamed => "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
        SchemaFault::IndexDrop => "Neo.DatabaseError.Schema.IndexDropFailed",
        SchemaFault::ConstraintDrop => "Neo.DatabaseError.Schema.ConstraintDropFailed",
        SchemaFault::ConstraintCreation => "Neo.DatabaseError.Schema.ConstraintCreationFailed",
    }
}
