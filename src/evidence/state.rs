//! What can be seen of agent and graph at one moment.

use serde::{Deserialize, Serialize};

use super::{ObjectContext, Observed, QueryObservation, Table};

/// What can be seen of agent and graph at one moment, as far as the job's assertions look at it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The agent's observable state; `None` when nothing asks for it.
    pub object_context: Option<Observed<ObjectContext>>,
    /// What each Cypher assertion's query returns, by assertion index.
    pub queries: Vec<QueryObservation>,
    /// Whether what is there can be what other conversations left: they share it, and no setup prepares it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_left_over: bool,
}

impl State {
    /// What the query of an assertion returned, where it was run and could be.
    pub fn table(&self, assertion: usize) -> Option<&Table> {
        table_of(&self.queries, assertion)
    }
}

pub(super) fn table_of(queries: &[QueryObservation], assertion: usize) -> Option<&Table> {
    queries.iter().filter(|query| query.assertion == assertion).find_map(|query| match &query.result {
        Observed::Seen(table) => Some(table),
        Observed::Failed(_) => None,
    })
}
