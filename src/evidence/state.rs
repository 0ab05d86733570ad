//! The observable state of agent and graph at one moment.

use serde::{Deserialize, Serialize};

use super::{AssertionId, ObjectContext, Observed, QueryObservation, Table};

/// The observable state of agent and graph at one moment, as far as the job's assertions need it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedState {
    /// The agent's observable state; `None` when nothing asks for it.
    pub object_context: Option<Observed<ObjectContext>>,
    /// The result of each Cypher assertion's query.
    pub queries: Vec<QueryObservation>,
    /// Whether what is there can be what other conversations left: they share it, and no setup prepares it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_left_over: bool,
    /// Whether the graph held nothing at all: what an assertion finds there afterwards is of this conversation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub graph_is_empty: bool,
}

impl ObservedState {
    /// The rows that the query of an assertion returned; `None` if it was not run or failed.
    pub fn table(&self, assertion: &AssertionId) -> Option<&Table> {
        table_of(&self.queries, assertion)
    }

    /// Both sides of the comparison that the query of an assertion returned.
    pub fn sides(&self, assertion: &AssertionId) -> Option<&Table> {
        sides_of(&self.queries, assertion)
    }
}

pub(super) fn sides_of<'q>(queries: &'q [QueryObservation], assertion: &AssertionId) -> Option<&'q Table> {
    queries.iter().find(|query| query.assertion == *assertion)?.sides.as_ref()
}

pub(super) fn table_of<'q>(queries: &'q [QueryObservation], assertion: &AssertionId) -> Option<&'q Table> {
    queries.iter().filter(|query| query.assertion == *assertion).find_map(|query| match &query.result {
        Observed::Seen(table) => Some(table),
        Observed::Failed(_) => None,
    })
}
