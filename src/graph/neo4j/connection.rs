//! Where a database is, and how long it is waited for.

use std::time::Duration;

use crate::secret::Secret;

/// Where a database is and how to get in, with everything filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neo4jConnection {
    /// `bolt://`, `neo4j://`, and both with `+s` (a trusted certificate) or `+ssc` (any certificate).
    pub uri: String,
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: Secret,
    /// The database; none for the user's home database.
    pub database: Option<String>,
}

/// Limits on time and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neo4jLimits {
    /// The longest that reaching the server and logging in may take.
    pub connect: Duration,
    /// The longest that one call may take after that, all its tries included.
    pub time: Duration,
    /// The most rows of a result.
    pub rows: usize,
}

impl Default for Neo4jLimits {
    fn default() -> Neo4jLimits {
        Neo4jLimits { connect: Duration::from_secs(5), time: Duration::from_secs(30), rows: 100_000 }
    }
}
