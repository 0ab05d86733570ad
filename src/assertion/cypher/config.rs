//! The YAML of a Cypher assertion.

/// `cypher` and `expected`.
#[derive(Debug, Clone, PartialEq)]
pub struct CypherCheck {
    /// One statement that only reads.
    pub cypher: String,
    /// The value, row or rows that it must return, as the job file spells them.
    pub expected: serde_json::Value,
}
