//! Update counters of a statement, as in the summary of a Neo4j result.

/// Update counters of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Nodes that were made.
    pub nodes_created: u64,
    /// Nodes that were deleted.
    pub nodes_deleted: u64,
    /// Relationships that were made.
    pub relationships_created: u64,
    /// Relationships that were deleted.
    pub relationships_deleted: u64,
    /// Properties that were set or removed, also to the value that they had.
    pub properties_set: u64,
    /// Labels that nodes got.
    pub labels_added: u64,
    /// Labels that nodes lost.
    pub labels_removed: u64,
    /// Indexes that were made.
    pub indexes_added: u64,
    /// Indexes that were dropped.
    pub indexes_removed: u64,
    /// Constraints that were made.
    pub constraints_added: u64,
    /// Constraints that were dropped.
    pub constraints_removed: u64,
}

impl WriteCounts {
    /// The engine's counters on this thread since the last call.
    pub(super) fn take() -> WriteCounts {
        let theirs = graphdblite::take_counts();
        WriteCounts {
            nodes_created: theirs.nodes_created,
            nodes_deleted: theirs.nodes_deleted,
            relationships_created: theirs.relationships_created,
            relationships_deleted: theirs.relationships_deleted,
            properties_set: theirs.properties_set,
            labels_added: theirs.labels_added,
            labels_removed: theirs.labels_removed,
            ..WriteCounts::default()
        }
    }

    /// The counts under Neo4j's names, without those that are zero.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("nodes-created", self.nodes_created),
            ("nodes-deleted", self.nodes_deleted),
            ("relationships-created", self.relationships_created),
            ("relationships-deleted", self.relationships_deleted),
            ("properties-set", self.properties_set),
            ("labels-added", self.labels_added),
            ("labels-removed", self.labels_removed),
            ("indexes-added", self.indexes_added),
            ("indexes-removed", self.indexes_removed),
            ("constraints-added", self.constraints_added),
            ("constraints-removed", self.constraints_removed),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }
}
