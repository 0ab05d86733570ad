//! Snapshots of the graph, and their differences. In comes a graph and a [`Window`] on it; out go [`GraphSnapshot`]s,
//! and the [`Change`](crate::evidence::Change)s between two of them.
//!
//! Invariants: a snapshot is bounded by nodes, rows and time; it only reads; where a backend counts its writes, an
//! unchanged graph is not looked at again. A node that was seen stays in sight until it is deleted, even if it is no
//! longer what the window asks for: it is never reported as deleted while it is there. One that comes into sight is
//! created, as far as the window shows.

mod config;
mod difference;
mod window;

pub use config::WatchConfig;
pub use difference::difference;
pub use window::Window;

use std::collections::{BTreeMap, BTreeSet};

use super::{Graph, GraphError, Node, Parameters, Relationship, Table, Value};
use window::IDS;

/// The graph at one moment, as far as it is watched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphSnapshot {
    /// The nodes, by id.
    pub nodes: BTreeMap<String, Node>,
    /// The relationships with at least one of these nodes, by id.
    pub relationships: BTreeMap<String, Relationship>,
    /// The nodes at the other ends of relationships that are not in sight themselves.
    pub ends: BTreeMap<String, Node>,
    /// Whether the backend never gives an id twice.
    pub lasting_ids: bool,
    /// The backend's count of its writes, just before.
    version: Option<u64>,
}

/// Why there is no snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// More nodes are in sight than this limit.
    #[error("it has more nodes than graph.watch.maxNodes allows ({0})")]
    TooManyNodes(u32),
    /// The window's predicate is wrong.
    #[error("with graph.watch.where: {0}")]
    Predicate(GraphError),
    /// The window's predicate writes.
    #[error("graph.watch.where writes, and may only look")]
    PredicateWrites,
    /// The backend failed.
    #[error("{0}")]
    Graph(GraphError),
}

impl GraphSnapshot {
    /// Snapshots what the window shows. `previous` is the last snapshot through the same window; nothing comes back
    /// when the graph is known to be the same as then.
    ///
    /// # Errors
    /// More nodes than the window allows, a wrong predicate, or an error of the backend.
    pub async fn take(
        graph: &dyn Graph,
        window: &Window,
        parameters: &Parameters,
        previous: Option<&GraphSnapshot>,
    ) -> Result<Option<GraphSnapshot>, SnapshotError> {
        // Before the first look: a write meanwhile makes the next snapshot look again.
        let version = graph.version();
        if version.is_some() && previous.is_some_and(|previous| previous.version == version) {
            return Ok(None);
        }
        let mut taken = GraphSnapshot { version, lasting_ids: graph.lasting_ids(), ..GraphSnapshot::default() };
        let read = async |statement, parameters| {
            let table = graph.read(statement, parameters).await;
            table.map_err(|error| window.error(error))
        };
        let rows = read(&window.nodes, parameters).await?;
        if rows.rows.len() > window.most as usize {
            return Err(SnapshotError::TooManyNodes(window.most));
        }
        taken.add_all(rows, true);
        taken.add_all(read(&window.relationships, parameters).await?, false);
        if let (Some(by_id), Some(previous)) = (&window.by_id, previous) {
            let missing: Vec<Value> = previous
                .nodes
                .keys()
                .filter(|id| !taken.nodes.contains_key(*id))
                .filter_map(|id| id.parse().ok().map(Value::Int))
                .collect();
            if !missing.is_empty() {
                let mut parameters = parameters.clone();
                parameters.insert(IDS.to_owned(), Value::List(missing));
                taken.add_all(read(by_id, &parameters).await?, true);
            }
        }
        taken.tidy();
        Ok(Some(taken))
    }

    /// Takes in rows of which the first column is a node in sight, if `in_sight`, and all else relationships and ends.
    fn add_all(&mut self, table: Table, in_sight: bool) {
        for row in table.rows {
            for (column, value) in row.into_iter().enumerate() {
                match value {
                    Value::Node(node) if in_sight && column == 0 => {
                        self.nodes.insert(node.id.clone(), node);
                    }
                    Value::Node(node) => {
                        self.ends.insert(node.id.clone(), node);
                    }
                    Value::Relationship(relationship) => {
                        self.relationships.insert(relationship.id.clone(), relationship);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Leaves out ends that are in sight, and relationships that came between two looks, before or after their nodes:
    /// the next snapshot has them whole.
    fn tidy(&mut self) {
        let nodes = &self.nodes;
        self.ends.retain(|id, _| !nodes.contains_key(id));
        let ends = &self.ends;
        let in_sight = |id: &str| nodes.contains_key(id);
        let known = |id: &str| nodes.contains_key(id) || ends.contains_key(id);
        self.relationships.retain(|_, relationship| {
            let (start, end) = (relationship.start.as_str(), relationship.end.as_str());
            known(start) && known(end) && (in_sight(start) || in_sight(end))
        });
        let used: BTreeSet<&str> = self
            .relationships
            .values()
            .flat_map(|relationship| [relationship.start.as_str(), relationship.end.as_str()])
            .collect();
        self.ends.retain(|id, _| used.contains(id.as_str()));
    }

    /// A node that is in sight or at the end of a relationship that is.
    fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id).or_else(|| self.ends.get(id))
    }
}

#[cfg(test)]
mod tests;
