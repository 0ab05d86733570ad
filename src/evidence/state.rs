//! What can be seen of agent and graph at one moment.

use serde::{Deserialize, Serialize};

use super::{ObjectContext, Observed, QueryObservation};

/// What can be seen of agent and graph at one moment, as far as the job's assertions look at it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The agent's observable state; `None` when nothing asks for it.
    pub object_context: Option<Observed<ObjectContext>>,
    /// What each Cypher assertion's query returns, by assertion index.
    pub queries: Vec<QueryObservation>,
}
