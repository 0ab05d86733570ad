//! Changes of the graph by a conversation, each with its turn.

mod show;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Node, Relationship, Value};

/// One difference between two snapshots of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// It was not there before.
    Created {
        /// When it was first seen.
        when: ChangeTime,
        /// The entity after it was created.
        entity: Entity,
    },
    /// It was there before.
    Deleted {
        /// When it was first missed.
        when: ChangeTime,
        /// The entity in the last snapshot that had it.
        entity: Entity,
    },
    /// Its labels or properties differ.
    Changed {
        /// When the difference was first seen.
        when: ChangeTime,
        /// The entity in the previous snapshot.
        before: Box<Entity>,
        /// The entity in the first snapshot that differs.
        after: Box<Entity>,
    },
}

/// Between which snapshots a change happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTime {
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

/// A property that differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PropertyChange<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value before; `None` when it was not there.
    pub before: Option<&'a Value>,
    /// Its value afterwards; `None` when it is not there any longer.
    pub after: Option<&'a Value>,
}

impl Change {
    /// When it was seen.
    pub fn when(&self) -> ChangeTime {
        match self {
            Change::Created { when, .. } | Change::Deleted { when, .. } | Change::Changed { when, .. } => *when,
        }
    }

    /// The entity that was created, deleted (as it was last seen) or changed (as it was then).
    pub fn entity(&self) -> &Entity {
        match self {
            Change::Created { entity, .. } | Change::Deleted { entity, .. } => entity,
            Change::Changed { after, .. } => after,
        }
    }

    /// The entity in the previous snapshot; `None` for what was created.
    pub fn before(&self) -> Option<&Entity> {
        match self {
            Change::Created { .. } => None,
            Change::Deleted { entity, .. } => Some(entity),
            Change::Changed { before, .. } => Some(before),
        }
    }

    /// The properties that differ, by name; none unless it was there before and afterwards.
    pub fn property_changes(&self) -> Vec<PropertyChange<'_>> {
        let Change::Changed { before, after, .. } = self else { return Vec::new() };
        let (before, after) = (before.properties(), after.properties());
        let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
        names.sort();
        names.dedup();
        names
            .into_iter()
            .map(|name| PropertyChange { name, before: before.get(name), after: after.get(name) })
            .filter(|change| match (change.before, change.after) {
                (Some(before), Some(after)) => !before.is_same(after),
                _ => true,
            })
            .collect()
    }
}

impl Entity {
    /// A node's labels, sorted; a relationship has none.
    pub fn labels(&self) -> &[String] {
        match self {
            Entity::Node(node) => &node.labels,
            Entity::Relationship { .. } => &[],
        }
    }

    /// Its own properties.
    pub fn properties(&self) -> &BTreeMap<String, Value> {
        match self {
            Entity::Node(node) => &node.properties,
            Entity::Relationship { relationship, .. } => &relationship.properties,
        }
    }
}
