//! The difference between two snapshots.
//!
//! Neo4j gives the ids of deleted nodes and relationships to new ones. A relationship never changes its type or its
//! ends, so another one under its id gives itself away. A node may change everything about itself: under an id that may
//! have been given twice it counts as the same while it keeps a label, a property with its value, or a relationship.

use std::collections::BTreeSet;

use super::GraphSnapshot;
use crate::evidence::{Change, ChangeTime, Entity};
use crate::graph::{Node, Relationship, Value};

/// The changes between two snapshots through the same window: created entities, nodes first; then changed ones; then
/// deleted ones, nodes last. Each in the order of the backend's ids.
pub fn difference(before: &GraphSnapshot, after: &GraphSnapshot, when: ChangeTime) -> Vec<Change> {
    let lasting = before.lasting_ids && after.lasting_ids;
    let still_joined = if lasting { BTreeSet::new() } else { still_joined(before, after) };
    let is_same = |old: &Node, new: &Node| lasting || still_joined.contains(old.id.as_str()) || is_alike(old, new);
    let is_old_node = |node: &Node| before.nodes.get(&node.id).is_some_and(|old| is_same(old, node));
    let is_kept_node = |node: &Node| after.nodes.get(&node.id).is_some_and(|new| is_same(node, new));
    let is_old = |found: &Relationship| before.relationships.get(&found.id).is_some_and(|old| is_one(old, found));
    let is_kept = |found: &Relationship| after.relationships.get(&found.id).is_some_and(|new| is_one(found, new));
    let created = |entity| Change::Created { when, entity };
    let deleted = |entity| Change::Deleted { when, entity };

    let mut changes = Vec::new();
    let mut new: Vec<&Node> = after.nodes.values().filter(|node| !is_old_node(node)).collect();
    new.sort_by_key(|node| order(&node.id));
    changes.extend(new.into_iter().map(|node| created(Entity::Node(node.clone()))));
    let mut new: Vec<&Relationship> = after.relationships.values().filter(|found| !is_old(found)).collect();
    new.sort_by_key(|found| order(&found.id));
    changes.extend(new.into_iter().filter_map(|found| entity(after, found)).map(created));

    let mut changed: Vec<(&Node, &Node)> = after
        .nodes
        .values()
        .filter(|node| is_old_node(node))
        .filter_map(|node| Some((before.nodes.get(&node.id)?, node)))
        .filter(|(old, new)| !equal_nodes(old, new))
        .collect();
    changed.sort_by_key(|(_, node)| order(&node.id));
    changes.extend(changed.into_iter().map(|(old, new)| Change::Changed {
        when,
        before: Box::new(Entity::Node(old.clone())),
        after: Box::new(Entity::Node(new.clone())),
    }));
    let mut changed: Vec<(&Relationship, &Relationship)> = after
        .relationships
        .values()
        .filter(|found| is_old(found))
        .filter_map(|found| Some((before.relationships.get(&found.id)?, found)))
        .filter(|(old, new)| !equal_properties(&old.properties, &new.properties))
        .collect();
    changed.sort_by_key(|(_, found)| order(&found.id));
    changes.extend(changed.into_iter().filter_map(|(old, new)| {
        let (before, after) = (entity(before, old)?, entity(after, new)?);
        Some(Change::Changed { when, before: Box::new(before), after: Box::new(after) })
    }));

    let mut gone: Vec<&Relationship> = before.relationships.values().filter(|found| !is_kept(found)).collect();
    gone.sort_by_key(|found| order(&found.id));
    changes.extend(gone.into_iter().filter_map(|found| entity(before, found)).map(deleted));
    let mut gone: Vec<&Node> = before.nodes.values().filter(|node| !is_kept_node(node)).collect();
    gone.sort_by_key(|node| order(&node.id));
    changes.extend(gone.into_iter().map(|node| deleted(Entity::Node(node.clone()))));
    changes
}

/// Whether two nodes of one id have enough in common to be one node.
fn is_alike(old: &Node, new: &Node) -> bool {
    let keeps_label = || old.labels.iter().any(|label| new.labels.contains(label));
    let keeps_property =
        || old.properties.iter().any(|(name, value)| new.properties.get(name).is_some_and(|new| new.is_same(value)));
    equal_nodes(old, new) || keeps_label() || keeps_property()
}

/// The ids of nodes that keep a relationship.
fn still_joined<'a>(before: &'a GraphSnapshot, after: &GraphSnapshot) -> BTreeSet<&'a str> {
    let kept = |found: &&Relationship| after.relationships.get(&found.id).is_some_and(|new| is_one(found, new));
    let ends = |found: &'a Relationship| [found.start.as_str(), found.end.as_str()];
    before.relationships.values().filter(kept).flat_map(ends).collect()
}

/// Whether two relationships of one id are one relationship.
fn is_one(old: &Relationship, new: &Relationship) -> bool {
    (&old.kind, &old.start, &old.end) == (&new.kind, &new.start, &new.end)
}

fn equal_nodes(old: &Node, new: &Node) -> bool {
    old.labels == new.labels && equal_properties(&old.properties, &new.properties)
}

type Properties = std::collections::BTreeMap<String, Value>;

fn equal_properties(old: &Properties, new: &Properties) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|((name, value), (other, new))| name == other && value.is_same(new))
}

fn entity(snapshot: &GraphSnapshot, relationship: &Relationship) -> Option<Entity> {
    Some(Entity::Relationship {
        relationship: relationship.clone(),
        from: snapshot.node(&relationship.start)?.clone(),
        to: snapshot.node(&relationship.end)?.clone(),
    })
}

/// Both backends count: Neo4j's ids are numbers, the embedded graph's relationships end with one.
fn order(id: &str) -> (u64, String) {
    (id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX), id.to_owned())
}
