//! What a conversation changed in the graph, and in which turn.

use serde::{Deserialize, Serialize};

use super::{Node, Relationship};

/// One difference between two photographs of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// It was not there before.
    Created {
        /// When it was first seen.
        when: Moment,
        /// As it was then.
        entity: Entity,
    },
    /// It was there before.
    Deleted {
        /// When it was first missed.
        when: Moment,
        /// As it was last seen.
        entity: Entity,
    },
    /// Its labels or properties differ.
    Changed {
        /// When the difference was first seen.
        when: Moment,
        /// As it was last seen before.
        before: Box<Entity>,
        /// As it was then.
        after: Box<Entity>,
    },
}

/// Between which photographs a change happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// The turn, counted from 1.
    pub turn: u32,
    /// It was not there yet when this turn, the last one, had its reply: it was found when the conversation was over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// A node, or a relationship with the nodes that it joins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entity {
    /// A node.
    Node(Node),
    /// A relationship.
    Relationship {
        /// The relationship itself.
        relationship: Relationship,
        /// The node where it starts, at that moment.
        from: Node,
        /// The node where it ends, at that moment.
        to: Node,
    },
}
