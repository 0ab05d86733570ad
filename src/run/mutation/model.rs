//! The graph of a conversation as plain data, before it and after it: from setups and recorded changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::{Change, ChangeTime, Entity, Node, Relationship, Value};
use crate::graph::{Graph, GraphError, Parameters};

/// The prefix of the ids of elements that setups made, until a recorded change names them.
const OF_SETUP: &str = "setup:";

/// A graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct GraphModel {
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) relationships: BTreeMap<String, Relationship>,
}

/// A node or a relationship of a model, by its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntityKey {
    Node(String),
    Relationship(String),
}

/// A conversation's graph before and after it, and what it did, in the order in which that was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    pub(super) before: GraphModel,
    pub(super) after: GraphModel,
    pub(super) seen: Vec<(EntityKey, ChangeTime)>,
}

impl EntityKey {
    fn new(entity: &Entity) -> EntityKey {
        match entity {
            Entity::Node(node) => EntityKey::Node(node.id.clone()),
            Entity::Relationship { relationship, .. } => EntityKey::Relationship(relationship.id.clone()),
        }
    }
}

impl GraphModel {
    /// All that is in a graph.
    pub(super) async fn read(graph: &dyn Graph) -> Result<GraphModel, GraphError> {
        let mut model = GraphModel::default();
        let id = |id: &str| format!("{OF_SETUP}{id}");
        for statement in ["MATCH (n) RETURN n", "MATCH ()-[r]->() RETURN r"] {
            for value in graph.read(statement, &Parameters::new()).await?.rows.into_iter().flatten() {
                match value {
                    Value::Node(node) => model.put_node(Node { id: id(&node.id), ..node }),
                    Value::Relationship(it) => model.put_relationship(Relationship {
                        id: id(&it.id),
                        start: id(&it.start),
                        end: id(&it.end),
                        ..it
                    }),
                    _ => {}
                }
            }
        }
        Ok(model)
    }

    pub(super) fn put_node(&mut self, node: Node) {
        self.nodes.insert(node.id.clone(), node);
    }

    pub(super) fn put_relationship(&mut self, relationship: Relationship) {
        self.relationships.insert(relationship.id.clone(), relationship);
    }

    /// How many nodes and relationships it has.
    pub(super) fn size(&self) -> usize {
        self.nodes.len() + self.relationships.len()
    }

    /// An entity, with the nodes that it joins.
    pub(super) fn entity(&self, key: &EntityKey) -> Option<Entity> {
        Some(match key {
            EntityKey::Node(id) => Entity::Node(self.nodes.get(id)?.clone()),
            EntityKey::Relationship(id) => {
                let relationship = self.relationships.get(id)?.clone();
                let (from, to) = (self.nodes.get(&relationship.start)?, self.nodes.get(&relationship.end)?);
                Entity::Relationship { from: from.clone(), to: to.clone(), relationship }
            }
        })
    }

    /// Puts an entity; of a relationship that of which the ends are there.
    pub(super) fn put(&mut self, entity: Entity) {
        match entity {
            Entity::Node(node) => self.put_node(node),
            Entity::Relationship { relationship, from, to } => {
                for end in [from, to] {
                    self.nodes.entry(end.id.clone()).or_insert(end);
                }
                self.put_relationship(relationship);
            }
        }
    }

    /// Takes an entity away; with a node its relationships.
    pub(super) fn remove(&mut self, key: &EntityKey) {
        match key {
            EntityKey::Node(id) => {
                self.nodes.remove(id);
                self.relationships.retain(|_, it| it.start != *id && it.end != *id);
            }
            EntityKey::Relationship(id) => {
                self.relationships.remove(id);
            }
        }
    }

    /// Makes sure that a recorded entity is there: as what setups made and is the same, or by itself.
    fn know(&mut self, entity: &Entity) {
        match entity {
            Entity::Node(node) => self.know_node(node),
            Entity::Relationship { relationship, from, to } => {
                self.know_node(from);
                self.know_node(to);
                if !self.relationships.contains_key(&relationship.id) {
                    let is_it = |it: &&Relationship| {
                        it.id.starts_with(OF_SETUP)
                            && (&it.kind, &it.start, &it.end)
                                == (&relationship.kind, &relationship.start, &relationship.end)
                            && are_same(&it.properties, &relationship.properties)
                    };
                    let known = self.relationships.values().find(is_it).map(|it| it.id.clone());
                    known.and_then(|id| self.relationships.remove(&id));
                    self.put_relationship(relationship.clone());
                }
            }
        }
    }

    fn know_node(&mut self, node: &Node) {
        if self.nodes.contains_key(&node.id) {
            return;
        }
        let is_it = |it: &&Node| {
            it.id.starts_with(OF_SETUP) && it.labels == node.labels && are_same(&it.properties, &node.properties)
        };
        if let Some(old) = self.nodes.values().find(is_it).map(|it| it.id.clone()) {
            self.nodes.remove(&old);
            for relationship in self.relationships.values_mut() {
                for end in [&mut relationship.start, &mut relationship.end] {
                    if *end == old {
                        end.clone_from(&node.id);
                    }
                }
            }
        }
        self.put_node(node.clone());
    }

    /// One statement that makes all of it, with its parameters.
    pub(super) fn statement(&self) -> (String, Parameters) {
        let mut parameters = Parameters::new();
        let mut properties = |properties: &BTreeMap<String, Value>| {
            let entry = |(name, value): (&String, &Value)| {
                let parameter = format!("p{}", parameters.len());
                parameters.insert(parameter.clone(), value.clone());
                format!("{}: ${parameter}", quoted(name))
            };
            let entries: Vec<String> = properties.iter().map(entry).collect();
            if entries.is_empty() { String::new() } else { format!(" {{{}}}", entries.join(", ")) }
        };
        let places: BTreeMap<&str, usize> = self.nodes.keys().map(String::as_str).zip(0..).collect();
        let mut parts = Vec::new();
        for (node, place) in self.nodes.values().zip(0..) {
            let labels: String = node.labels.iter().map(|label| format!(":{}", quoted(label))).collect();
            parts.push(format!("(n{place}{labels}{})", properties(&node.properties)));
        }
        for it in self.relationships.values() {
            if let (Some(start), Some(end)) = (places.get(it.start.as_str()), places.get(it.end.as_str())) {
                let kind = quoted(&it.kind);
                parts.push(format!("(n{start})-[:{kind}{}]->(n{end})", properties(&it.properties)));
            }
        }
        (format!("CREATE {}", parts.join(", ")), parameters)
    }
}

impl History {
    /// A graph after the recorded changes. Elements that they name and that setups did not make were there before.
    pub(super) fn new(mut before: GraphModel, changes: &[Change]) -> History {
        let changes = &told_apart(changes);
        let mut created = BTreeSet::new();
        // As it was first seen; ends of relationships come later, because they may have changed by then.
        for change in changes {
            match change.before() {
                None => _ = created.insert(EntityKey::new(change.entity())),
                Some(Entity::Node(node)) if !created.contains(&EntityKey::Node(node.id.clone())) => {
                    before.know_node(node)
                }
                Some(_) => {}
            }
        }
        for change in changes {
            if let Entity::Relationship { from, to, .. } = change.entity() {
                for end in [from, to].into_iter().filter(|end| !created.contains(&EntityKey::Node(end.id.clone()))) {
                    before.know_node(end);
                }
            }
            if let Some(entity @ Entity::Relationship { .. }) = change.before()
                && !created.contains(&EntityKey::new(entity))
            {
                before.know(entity);
            }
        }
        let (mut after, mut seen): (GraphModel, Vec<(EntityKey, ChangeTime)>) = (before.clone(), Vec::new());
        for change in changes {
            let key = EntityKey::new(change.entity());
            match change {
                Change::Deleted { .. } => after.remove(&key),
                Change::Created { entity, .. } => after.put(entity.clone()),
                Change::Changed { after: entity, .. } => after.put((**entity).clone()),
            }
            if !seen.iter().any(|(known, _)| *known == key) {
                seen.push((key, change.when()));
            }
        }
        History { before, after, seen }
    }

    /// The change of one entity, as far as it is another one than before.
    pub(super) fn change(&self, key: &EntityKey, when: ChangeTime) -> Option<Change> {
        Some(match (self.before.entity(key), self.after.entity(key)) {
            (None, Some(entity)) => Change::Created { when, entity },
            (Some(entity), None) => Change::Deleted { when, entity },
            (Some(before), Some(after)) if is_same(&before, &after) => return None,
            (Some(before), Some(after)) => Change::Changed { when, before: Box::new(before), after: Box::new(after) },
            (None, None) => return None,
        })
    }

    /// All changes.
    pub(super) fn changes(&self) -> Vec<Change> {
        self.seen.iter().filter_map(|(key, when)| self.change(key, *when)).collect()
    }
}

/// The changes with an id for each entity: databases give that of one which was deleted to another one that is created later.
fn told_apart(changes: &[Change]) -> Vec<Change> {
    let mut deleted = BTreeSet::new();
    let mut incarnations: BTreeMap<EntityKey, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for of_moment in changes.chunk_by(|one, next| one.when() == next.when()) {
        for change in of_moment.iter().filter(|it| it.before().is_none()) {
            let key = EntityKey::new(change.entity());
            if deleted.remove(&key) {
                *incarnations.entry(key).or_insert(1) += 1;
            }
        }
        all.extend(of_moment.iter().map(|change| match change.clone() {
            Change::Created { when, entity } => Change::Created { when, entity: named(entity, &incarnations) },
            Change::Deleted { when, entity } => Change::Deleted { when, entity: named(entity, &incarnations) },
            Change::Changed { when, before, after } => {
                let (before, after) = (Box::new(named(*before, &incarnations)), Box::new(named(*after, &incarnations)));
                Change::Changed { when, before, after }
            }
        }));
        let gone = of_moment.iter().filter(|it| matches!(it, Change::Deleted { .. }));
        deleted.extend(gone.map(|change| EntityKey::new(change.entity())));
    }
    all
}

/// An entity by the ids that tell it and its ends from those that had them before.
fn named(entity: Entity, incarnations: &BTreeMap<EntityKey, usize>) -> Entity {
    let id = |key: EntityKey| {
        let incarnation = incarnations.get(&key).copied();
        let (EntityKey::Node(id) | EntityKey::Relationship(id)) = key;
        incarnation.map_or(id.clone(), |incarnation| format!("{id}#{incarnation}"))
    };
    let node = |node: Node| Node { id: id(EntityKey::Node(node.id.clone())), ..node };
    match entity {
        Entity::Node(it) => Entity::Node(node(it)),
        Entity::Relationship { relationship: it, from, to } => Entity::Relationship {
            relationship: Relationship {
                id: id(EntityKey::Relationship(it.id.clone())),
                start: id(EntityKey::Node(it.start.clone())),
                end: id(EntityKey::Node(it.end.clone())),
                ..it
            },
            from: node(from),
            to: node(to),
        },
    }
}

/// Whether nothing of its own differs; the ends of a relationship are not its own.
fn is_same(one: &Entity, other: &Entity) -> bool {
    let kind = |entity: &Entity| match entity {
        Entity::Relationship { relationship, .. } => Some(relationship.kind.clone()),
        Entity::Node(_) => None,
    };
    one.labels() == other.labels() && kind(one) == kind(other) && are_same(one.properties(), other.properties())
}

fn are_same(ones: &BTreeMap<String, Value>, others: &BTreeMap<String, Value>) -> bool {
    ones.len() == others.len()
        && ones.iter().zip(others).all(|((name, one), (other_name, other))| name == other_name && one.is_same(other))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
