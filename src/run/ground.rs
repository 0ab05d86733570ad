//! The graph that a trial plays on, and the way by which an agent that eval-job starts gets there.

use std::sync::Arc;

use crate::agent::managed::GraphAccess;
use crate::graph::Graph;
use crate::graph::bolt::BoltDoor;

/// A graph with what it needs to be there.
pub(super) struct Ground {
    /// The graph that setups and assertions look at.
    pub(super) graph: Arc<dyn Graph>,
    /// What an agent that eval-job starts is told of it.
    pub(super) access: Option<GraphAccess>,
    /// The embedded graph's door, where an agent needs one.
    pub(super) door: Option<BoltDoor>,
    /// The database that was made for it.
    pub(super) database: Option<String>,
}

impl Ground {
    /// A graph that nobody outside needs to reach.
    pub(super) fn of(graph: Arc<dyn Graph>) -> Ground {
        Ground { graph, access: None, door: None, database: None }
    }
}
