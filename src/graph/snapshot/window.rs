//! The part of the graph that is watched, as Cypher.

use super::{SnapshotError, WatchConfig};
use crate::graph::{GraphError, GraphErrorKind};

/// The parameter that holds the ids of nodes that are looked for by id.
pub(super) const IDS: &str = "watchedIds";

const ALL: &str = "MATCH ()-[r]->() RETURN r";

/// The statements that snapshot one part of the graph. Labels are quoted; the predicate is the job's own Cypher and
/// sees no other variable than `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Gives each node that is seen, as `n`.
    pub(super) nodes: String,
    /// Gives each relationship with at least one end that is seen, as `r`; where not every node is, its ends follow as
    /// `a` and `b`.
    pub(super) relationships: String,
    /// Returns the nodes with the given ids, with their relationships: `n`, `r`, `a`, `b`. `None` where every node is
    /// seen anyway.
    pub(super) by_id: Option<String>,
    /// The most nodes that a snapshot may have.
    pub(super) most: u32,
    has_predicate: bool,
}

impl Window {
    /// The window that a job asks for; `most` is the backend's limit where the job names none.
    pub fn new(config: &WatchConfig, most: u32) -> Window {
        let most = config.max_nodes.unwrap_or(most);
        let (label, mut conditions) = match config.labels.as_slice() {
            [] => (String::new(), Vec::new()),
            [one] => (format!(":{}", quoted(one)), Vec::new()),
            several => {
                let any: Vec<String> = several.iter().map(|label| format!("n:{}", quoted(label))).collect();
                (String::new(), vec![format!("({})", any.join(" OR "))])
            }
        };
        // The line ends behind it: it may end with a comment.
        conditions.extend(config.predicate.iter().map(|predicate| format!("({predicate}\n)")));
        let seen = match conditions.is_empty() {
            true => format!("MATCH (n{label})"),
            false => format!("MATCH (n{label}) WHERE {}", conditions.join(" AND ")),
        };
        let nodes = format!("{seen} RETURN n LIMIT {}", u64::from(most) + 1);
        if label.is_empty() && conditions.is_empty() {
            return Window { nodes, relationships: ALL.to_owned(), by_id: None, most, has_predicate: false };
        }
        Window {
            nodes,
            relationships: format!(
                "{seen} WITH n MATCH (n)-[r]-() RETURN DISTINCT r, startNode(r) AS a, endNode(r) AS b"
            ),
            by_id: Some(format!(
                "MATCH (n) WHERE id(n) IN ${IDS} OPTIONAL MATCH (n)-[r]-() \
                 RETURN n, r, startNode(r) AS a, endNode(r) AS b"
            )),
            most,
            has_predicate: config.predicate.is_some(),
        }
    }

    /// The error of a snapshot: an error in a statement is one in the predicate.
    pub(super) fn error(&self, error: GraphError) -> SnapshotError {
        match error.kind {
            GraphErrorKind::Statement | GraphErrorKind::Unsupported if self.has_predicate => {
                SnapshotError::Predicate(error)
            }
            GraphErrorKind::WriteRefused => SnapshotError::PredicateWrites,
            _ => SnapshotError::Graph(error),
        }
    }
}

fn quoted(label: &str) -> String {
    format!("`{}`", label.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(labels: &[&str], predicate: Option<&str>) -> Window {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let config = WatchConfig { labels, predicate: predicate.map(str::to_owned), max_nodes: Some(7) };
        Window::new(&config, 1000)
    }

    #[test]
    fn a_window_is_bounded_and_labels_are_quoted() {
        assert_eq!(window(&[], None).nodes, "MATCH (n) RETURN n LIMIT 8");
        assert_eq!(
            window(&["a`b) DETACH DELETE n //"], None).nodes,
            "MATCH (n:`a``b) DETACH DELETE n //`) RETURN n LIMIT 8"
        );
        assert_eq!(
            window(&["A", "B"], Some("n.x = 1 // mine")).nodes,
            "MATCH (n) WHERE (n:`A` OR n:`B`) AND (n.x = 1 // mine\n) RETURN n LIMIT 8"
        );
    }

    #[test]
    fn without_bounds_of_its_own_it_has_the_backends() {
        assert_eq!(Window::new(&WatchConfig::default(), 1000).most, 1000);
    }
}
