//! What was looked at after the conversation.

use serde::{Deserialize, Serialize};

use super::Table;

/// Something that was looked at: what it showed, or why it could not be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Observed<T> {
    /// What it showed.
    Seen(T),
    /// Why it could not be looked at: somebody's fault, but not shown to be the agent's.
    Failed(String),
}

/// What a Cypher assertion's query returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryObservation {
    /// Which assertion of the job, counted from 0.
    pub assertion: usize,
    /// Its rows.
    pub result: Observed<Table>,
}

impl QueryObservation {
    /// Beyond all of a job's assertions: where both sides of the comparison that an assertion's query returns are kept.
    pub fn place_of_sides(assertion: usize) -> usize {
        const BEYOND: usize = 1_000_000;
        BEYOND + assertion
    }
}
