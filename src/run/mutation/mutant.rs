//! Mutants of a conversation's graph: one recorded change is not made, made twice, or made otherwise.

use std::collections::BTreeMap;

use super::model::{EntityKey, History};
use crate::evidence::{Change, ChangeTime, Entity, Temporal, Value};
use crate::record::MutationKind;

/// The prefix of the id of a duplicate.
const DOUBLE: &str = "double:";

/// The replacement of every altered text, label and type.
const ALTERED: &str = "altered";

/// A mutant, still to be made.
#[derive(Debug, Clone)]
pub(super) struct Mutant {
    seen: (EntityKey, ChangeTime),
    /// The change, as it was recorded.
    pub(super) change: String,
    /// The mutation.
    pub(super) kind: MutationKind,
    alteration: Option<Alteration>,
}

#[derive(Debug, Clone)]
enum Alteration {
    Property { name: String, from: Box<Value>, to: Box<Value> },
    Label(usize, String),
    Type(String),
}

/// All mutants of a conversation, those of one change beside each other.
pub(super) fn mutants(history: &History) -> Vec<Mutant> {
    let mut all = Vec::new();
    for seen in &history.seen {
        let Some(change) = history.change(&seen.0, seen.1) else { continue };
        let verb = match change {
            Change::Created { .. } => "created",
            Change::Deleted { .. } => "deleted",
            Change::Changed { .. } => "changed",
        };
        let mutant =
            |kind, alteration| Mutant { seen: seen.clone(), change: format!("{verb} {change}"), kind, alteration };
        all.push(mutant(MutationKind::Removed, None));
        if let Change::Created { .. } = change {
            all.push(mutant(MutationKind::Doubled, None));
        }
        all.extend(alterations(&change).into_iter().map(|it| mutant(MutationKind::Altered, Some(it))));
    }
    all
}

fn alterations(change: &Change) -> Vec<Alteration> {
    let property = |(name, value): (&String, &Value)| {
        Some(Alteration::Property { name: name.clone(), from: Box::new(value.clone()), to: Box::new(other(value)?) })
    };
    match change {
        Change::Deleted { .. } => Vec::new(),
        Change::Created { entity, .. } => {
            let mut all: Vec<Alteration> = match entity {
                Entity::Node(node) => {
                    node.labels.iter().enumerate().map(|(at, label)| Alteration::Label(at, label.clone())).collect()
                }
                Entity::Relationship { relationship, .. } => vec![Alteration::Type(relationship.kind.clone())],
            };
            all.extend(entity.properties().iter().filter_map(property));
            all
        }
        Change::Changed { .. } => {
            let changes: BTreeMap<String, Value> = change
                .property_changes()
                .into_iter()
                .filter_map(|it| Some((it.name.to_owned(), it.after?.clone())))
                .collect();
            changes.iter().filter_map(property).collect()
        }
    }
}

/// Another value of the same type; `None` where there is none.
fn other(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Int(number) => Value::Int(number.checked_add(1).unwrap_or(0)),
        Value::Float(number) if number.is_finite() && number + 1.0 != *number => Value::Float(number + 1.0),
        Value::Float(_) => Value::Float(0.5),
        Value::String(text) if text == ALTERED => Value::String(format!("{ALTERED} again")),
        Value::String(_) => Value::String(ALTERED.to_owned()),
        Value::List(items) => match items.split_last() {
            Some((_, rest)) => Value::List(rest.to_vec()),
            None => Value::List(vec![Value::String(ALTERED.to_owned())]),
        },
        Value::Temporal(temporal) => Value::Temporal(later(temporal)?),
        Value::Point(point) => {
            let mut point = point.clone();
            let first = point.coordinates.first_mut()?;
            *first = if *first >= 1.0 { *first - 1.0 } else { *first + 1.0 };
            Value::Point(point)
        }
        Value::Null | Value::Map(_) | Value::Node(_) | Value::Relationship(_) | Value::Path(_) => return None,
    })
}

/// The same with another last digit of its first field: another year, hour or amount.
fn later(temporal: &Temporal) -> Option<Temporal> {
    let start = temporal.text.find(|c: char| c.is_ascii_digit())?;
    let digits = temporal.text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(temporal.text.len() - start);
    let at = start + digits - 1;
    let digit = temporal.text[at..].chars().next()?.to_digit(10)?;
    // An hour's last digit may end at 3.
    let next = if digit == 0 { 1 } else { digit - 1 };
    let text = format!("{}{next}{}", &temporal.text[..at], &temporal.text[at + 1..]);
    let altered = Temporal { kind: temporal.kind, text };
    // The 29th of February is not in every year.
    match altered.parse() {
        Some(_) => Some(altered),
        None => {
            let text = altered.text.replacen("-29", "-28", 1);
            Some(Temporal { kind: temporal.kind, text }).filter(|it| it.parse().is_some())
        }
    }
}

impl Mutant {
    /// The altered part, for a reader.
    pub(super) fn altered(&self) -> Option<String> {
        Some(match self.alteration.as_ref()? {
            Alteration::Property { name, from, to } => format!("{name}: {from} → {to}"),
            Alteration::Label(_, label) => format!("label {label} → {ALTERED}"),
            Alteration::Type(kind) => format!("type {kind} → {ALTERED}"),
        })
    }

    /// The conversation as it would have been.
    pub(super) fn applied(&self, history: &History) -> History {
        let mut mutated = history.clone();
        let (key, when) = &self.seen;
        match (self.kind, &self.alteration) {
            (MutationKind::Removed, _) => match history.before.entity(key) {
                None => mutated.after.remove(key),
                Some(before) => mutated.after.put(before),
            },
            (MutationKind::Doubled, _) => double(&mut mutated, history, key, *when),
            (MutationKind::Altered, None) => {}
            (MutationKind::Altered, Some(alteration)) => alter(&mut mutated, key, alteration),
        }
        mutated
    }
}

/// A node is doubled with its relationships.
fn double(mutated: &mut History, history: &History, key: &EntityKey, when: ChangeTime) {
    let twice = |id: &str| format!("{DOUBLE}{id}");
    match key {
        EntityKey::Node(id) => {
            let Some(node) = history.after.nodes.get(id) else { return };
            let mut copy = node.clone();
            copy.id = twice(id);
            mutated.seen.push((EntityKey::Node(copy.id.clone()), when));
            mutated.after.put_node(copy);
            for it in history.after.relationships.values().filter(|it| it.start == *id || it.end == *id) {
                let mut copy = it.clone();
                copy.id = twice(&it.id);
                for end in [&mut copy.start, &mut copy.end] {
                    if end == id {
                        *end = twice(id);
                    }
                }
                mutated.seen.push((EntityKey::Relationship(copy.id.clone()), when));
                mutated.after.put_relationship(copy);
            }
        }
        EntityKey::Relationship(id) => {
            let Some(it) = history.after.relationships.get(id) else { return };
            let mut copy = it.clone();
            copy.id = twice(id);
            mutated.seen.push((EntityKey::Relationship(copy.id.clone()), when));
            mutated.after.put_relationship(copy);
        }
    }
}

fn alter(mutated: &mut History, key: &EntityKey, alteration: &Alteration) {
    let after = &mut mutated.after;
    let properties = match key {
        EntityKey::Node(id) => {
            let Some(node) = after.nodes.get_mut(id) else { return };
            if let Alteration::Label(at, _) = alteration {
                node.labels[*at] = ALTERED.to_owned();
                node.labels.sort();
            }
            &mut node.properties
        }
        EntityKey::Relationship(id) => {
            let Some(relationship) = after.relationships.get_mut(id) else { return };
            if let Alteration::Type(_) = alteration {
                relationship.kind = ALTERED.to_owned();
            }
            &mut relationship.properties
        }
    };
    if let Alteration::Property { name, to, .. } = alteration {
        properties.insert(name.clone(), (**to).clone());
    }
}
