//! Changes as text: as Cypher would write them, on one line, long values cut.

use std::fmt::{self, Display, Formatter};

use super::{Change, ChangeTime, Entity};
use crate::evidence::{Node, Relationship, Value};

/// The most characters of a text that are shown; `MAX_ITEMS` is the same for the items of a list or a map.
const MAX_CHARS: usize = 60;
const MAX_ITEMS: usize = 6;

/// `(:Label {name: 'value'})`, or `(…)-[:TYPE {…}]->(…)`.
impl Display for Entity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Entity::Node(node) => write!(f, "{}", brief_node(node)),
            Entity::Relationship { relationship, from, to } => {
                let relationship = Relationship {
                    properties: relationship
                        .properties
                        .iter()
                        .map(|(name, value)| (name.clone(), brief(value)))
                        .collect(),
                    ..relationship.clone()
                };
                write!(f, "{}-{relationship}->{}", end(from), end(to))
            }
        }
    }
}

/// For a created or deleted entity, the entity; for a changed one, its unchanged part and then each difference:
/// `(:Label {name: 'value'}) other: 1 → 2`.
impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Change::Changed { before, after, .. } = self else { return write!(f, "{}", self.entity()) };
        let differences = self.property_changes();
        let mut rest = (**after).clone();
        let properties = match &mut rest {
            Entity::Node(node) => &mut node.properties,
            Entity::Relationship { relationship, .. } => &mut relationship.properties,
        };
        properties.retain(|name, _| !differences.iter().any(|change| change.name == name));
        write!(f, "{rest}")?;
        let mut differences: Vec<String> = differences
            .iter()
            .map(|change| {
                let shown = |value: Option<&Value>| value.map_or(Value::Null, brief);
                format!("{}: {} → {}", change.name, shown(change.before), shown(change.after))
            })
            .collect();
        if before.labels() != after.labels() {
            differences.insert(0, format!("labels {} → {}", labels(before), labels(after)));
        }
        write!(f, " {}", differences.join(", "))
    }
}

/// `in turn 3`, `after the reply of turn 4`.
impl Display for ChangeTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let relation = if self.late { "after the reply of" } else { "in" };
        write!(f, "{relation} turn {}", self.turn)
    }
}

fn labels(entity: &Entity) -> String {
    let bare = Node { id: String::new(), labels: entity.labels().to_vec(), properties: Default::default() };
    bare.to_string()
}

fn brief_node(node: &Node) -> Node {
    Node {
        properties: node.properties.iter().map(|(name, value)| (name.clone(), brief(value))).collect(),
        ..node.clone()
    }
}

/// The properties that identify an entity to a reader, the best one first.
const IDENTIFYING: [&str; 3] = ["name", "title", "id"];

/// A node at the end of a relationship: its labels and one property.
fn end(node: &Node) -> String {
    let identifying = IDENTIFYING.iter().find_map(|name| node.properties.get_key_value(*name));
    let Some((name, value)) = identifying.or_else(|| node.properties.first_key_value()) else {
        return node.to_string();
    };
    let shown = Node { properties: [(name.clone(), brief(value))].into(), ..node.clone() }.to_string();
    match (node.properties.len(), shown.strip_suffix("})")) {
        (2.., Some(open)) => format!("{open}, …}})"),
        _ => shown,
    }
}

/// The value, cut where it is long.
fn brief(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => Value::String(format!("{}…", &text[..end])),
            None => value.clone(),
        },
        Value::List(items) => {
            let mut shown: Vec<Value> = items.iter().take(MAX_ITEMS).map(brief).collect();
            if items.len() > MAX_ITEMS {
                shown.push(Value::String(format!("… {} more", items.len() - MAX_ITEMS)));
            }
            Value::List(shown)
        }
        Value::Map(entries) => {
            let shown = entries.iter().take(MAX_ITEMS).map(|(name, value)| (name.clone(), brief(value)));
            Value::Map(shown.collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(labels: &[&str], properties: &[(&str, Value)]) -> Node {
        Node {
            id: "1".to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            properties: properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        }
    }

    fn changed(before: Node, after: Node) -> Change {
        let when = ChangeTime { turn: 2, late: false };
        Change::Changed { when, before: Box::new(Entity::Node(before)), after: Box::new(Entity::Node(after)) }
    }

    #[test]
    fn what_has_changed_stands_behind_what_has_not() {
        let before = node(&["A"], &[("name", "x".into()), ("n", 1_i64.into()), ("gone", true.into())]);
        let after = node(&["A", "B"], &[("name", "x".into()), ("n", 1.0.into()), ("new", "y".into())]);
        assert_eq!(
            changed(before, after).to_string(),
            "(:A:B {name: 'x'}) labels (:A) → (:A:B), gone: true → null, n: 1 → 1.0, new: null → 'y'"
        );
    }

    #[test]
    fn long_values_are_cut_and_control_characters_spelled_out() {
        let long: Vec<i64> = (0..1000).collect();
        let shown =
            Entity::Node(node(&["A"], &[("list", long.into()), ("text", "é\u{1b}".repeat(100).into())])).to_string();
        assert!(shown.starts_with("(:A {list: [0, 1, 2, 3, 4, 5, '… 994 more'], text: 'é\\u001bé"), "{shown}");
        assert!(shown.chars().count() < 300, "{shown}");
    }

    #[test]
    fn the_ends_of_a_relationship_are_distinguished_by_one_property() {
        let relationship = Relationship {
            id: "7".to_owned(),
            kind: "R".to_owned(),
            start: "1".to_owned(),
            end: "2".to_owned(),
            properties: [("x".to_owned(), 1_i64.into()), ("y".to_owned(), 2_i64.into())].into(),
        };
        let from = node(&["A"], &[("age", 7_i64.into()), ("name", "Ada".into())]);
        let to = node(&[], &[("age", 7_i64.into())]);
        let shown = Entity::Relationship { relationship, from, to }.to_string();
        assert_eq!(shown, "(:A {name: 'Ada', …})-[:R {x: 1, y: 2}]->({age: 7})");
    }

    #[test]
    fn nan_has_not_changed() {
        let one = node(&[], &[("x", f64::NAN.into()), ("list", vec![f64::NAN].into())]);
        assert!(changed(one.clone(), one).property_changes().is_empty());
    }
}
