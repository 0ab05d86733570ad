//! Bolt's values and rows as ours, and back.

use std::collections::BTreeMap;

use neo4rs::{
    BoltFloat, BoltInteger, BoltList, BoltMap, BoltNode, BoltNull, BoltPath, BoltPoint2D, BoltPoint3D, BoltRelation,
    BoltType, BoltUnboundedRelation,
};

use super::temporal;
use crate::graph::{ConversionError, Node, Path, Point, Relationship, Value};

/// A value of theirs as ours. The error says which type can't be shown.
pub(super) fn from_bolt(bolt: &BoltType) -> Result<Value, ConversionError> {
    Ok(match bolt {
        BoltType::Null(_) => Value::Null,
        BoltType::Boolean(truth) => Value::Bool(truth.value),
        BoltType::Integer(number) => Value::Int(number.value),
        BoltType::Float(number) => Value::Float(number.value),
        BoltType::String(text) => Value::String(text.value.clone()),
        BoltType::List(items) => Value::List(items.iter().map(from_bolt).collect::<Result<_, _>>()?),
        BoltType::Map(entries) => Value::Map(properties(entries)?),
        BoltType::Node(found) => node(found)?.into(),
        BoltType::Relation(found) => relationship(found)?.into(),
        BoltType::Path(found) => path(found)?.into(),
        BoltType::Point2D(point) => {
            Value::Point(Point { srid: srid(&point.sr_id)?, coordinates: vec![point.x.value, point.y.value] })
        }
        BoltType::Point3D(point) => Value::Point(Point {
            srid: srid(&point.sr_id)?,
            coordinates: vec![point.x.value, point.y.value, point.z.value],
        }),
        BoltType::Bytes(_) => return Err(unsupported("a byte array")),
        BoltType::UnboundedRelation(_) => return Err(unsupported("a relationship outside its path")),
        other => match temporal::from_bolt(other) {
            Some(temporal) => temporal.into(),
            None => return Err(unsupported("a date or time beyond the calendar")),
        },
    })
}

/// A value of ours as a parameter. The error says what is wrong with it.
pub(super) fn to_bolt(value: &Value) -> Result<BoltType, ConversionError> {
    Ok(match value {
        Value::Null => BoltType::Null(BoltNull),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::String(text) => text.as_str().into(),
        Value::List(items) => BoltType::List(BoltList::from(
            items.iter().map(to_bolt).collect::<Result<Vec<BoltType>, ConversionError>>()?,
        )),
        Value::Map(entries) => BoltType::Map(map(entries)?),
        Value::Temporal(value) => {
            temporal::to_bolt(value).ok_or_else(|| ConversionError(format!("{value} can't be read")))?
        }
        Value::Point(point) => {
            let sr_id = BoltInteger::new(point.srid.into());
            match point.coordinates.as_slice() {
                [x, y] => BoltType::Point2D(BoltPoint2D { sr_id, x: BoltFloat::new(*x), y: BoltFloat::new(*y) }),
                [x, y, z] => BoltType::Point3D(BoltPoint3D {
                    sr_id,
                    x: BoltFloat::new(*x),
                    y: BoltFloat::new(*y),
                    z: BoltFloat::new(*z),
                }),
                _ => return Err(unsupported("a point has two or three coordinates")),
            }
        }
        Value::Node(_) | Value::Relationship(_) | Value::Path(_) => {
            return Err(ConversionError(format!("{value} is no plain value")));
        }
    })
}

/// Entries of ours as a map of theirs.
pub(super) fn map(entries: &BTreeMap<String, Value>) -> Result<BoltMap, ConversionError> {
    entries.iter().map(|(key, value)| Ok((key.as_str().into(), to_bolt(value)?))).collect()
}

fn properties(entries: &BoltMap) -> Result<BTreeMap<String, Value>, ConversionError> {
    entries.value.iter().map(|(key, value)| Ok((key.value.clone(), from_bolt(value)?))).collect()
}

fn node(node: &BoltNode) -> Result<Node, ConversionError> {
    let mut labels: Vec<String> = node.labels.iter().map(ToString::to_string).collect();
    labels.sort();
    Ok(Node { id: node.id.value.to_string(), labels, properties: properties(&node.properties)? })
}

fn relationship(found: &BoltRelation) -> Result<Relationship, ConversionError> {
    Ok(Relationship {
        id: found.id.value.to_string(),
        kind: found.typ.value.clone(),
        start: found.start_node_id.value.to_string(),
        end: found.end_node_id.value.to_string(),
        properties: properties(&found.properties)?,
    })
}

/// Bolt lists each node and relationship once and then the way through them: pairs of a relationship, counted from 1
/// and negative when it is walked backwards, and the node that it leads to, counted from 0.
fn path(path: &BoltPath) -> Result<Path, ConversionError> {
    let broken = || unsupported("a path that does not hold together");
    let (nodes, kinds, way) = (path.nodes(), path.rels(), path.indices());
    let mut walked = Path { nodes: vec![node(nodes.first().ok_or_else(broken)?)?], relationships: Vec::new() };
    for step in way.chunks(2) {
        let [relationship, to] = step else { return Err(broken()) };
        let at = usize::try_from(relationship.value.unsigned_abs()).map_err(|_| broken())?;
        let found = at.checked_sub(1).and_then(|at| kinds.get(at)).ok_or_else(broken)?;
        let to = usize::try_from(to.value).ok().and_then(|to| nodes.get(to)).ok_or_else(broken)?;
        let (from, to) = (walked.nodes.last().ok_or_else(broken)?.id.clone(), node(to)?);
        let (start, end) = if relationship.value < 0 { (to.id.clone(), from) } else { (from, to.id.clone()) };
        walked.relationships.push(bound(found, start, end)?);
        walked.nodes.push(to);
    }
    Ok(walked)
}

fn bound(found: &BoltUnboundedRelation, start: String, end: String) -> Result<Relationship, ConversionError> {
    Ok(Relationship {
        id: found.id.value.to_string(),
        kind: found.typ.value.clone(),
        start,
        end,
        properties: properties(&found.properties)?,
    })
}

fn srid(number: &BoltInteger) -> Result<u32, ConversionError> {
    u32::try_from(number.value).map_err(|_| unsupported("a point of an unknown system"))
}

fn unsupported(what: &str) -> ConversionError {
    ConversionError(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Temporal, TemporalKind};

    fn bolt_node(id: i64, label: &str) -> BoltNode {
        let properties = [("x".into(), BoltType::from(id))].into_iter().collect();
        BoltNode::new(id.into(), vec![BoltType::from(label)].into(), properties)
    }

    #[test]
    fn plain_values_survive_the_way_there_and_back() {
        let date = Temporal { kind: TemporalKind::Date, text: "2024-02-29".to_owned() };
        for value in [
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Float(1.0),
            Value::from("é'"),
            Value::List(vec![Value::Int(1), Value::Float(1.0), Value::Null, date.into()]),
            [("a", Value::from([("b", 1_i64)]))].into(),
            Point { srid: 4326, coordinates: vec![1.0, 2.0] }.into(),
            Point { srid: 9157, coordinates: vec![1.0, 2.0, 3.0] }.into(),
        ] {
            assert_eq!(to_bolt(&value).and_then(|bolt| from_bolt(&bolt)), Ok(value));
        }
    }

    #[test]
    fn graph_elements_are_no_parameters() {
        let node = Node { id: "1".to_owned(), labels: vec!["A".to_owned()], properties: BTreeMap::new() };
        assert_eq!(to_bolt(&node.into()).unwrap_err().to_string(), "(:A) is no plain value");
        assert!(to_bolt(&Point { srid: 1, coordinates: vec![1.0] }.into()).is_err());
    }

    #[test]
    fn a_node_has_its_labels_sorted() {
        let labels = vec![BoltType::from("Zebra"), BoltType::from("Ant")];
        let bolt = BoltType::Node(BoltNode::new(7.into(), labels.into(), BoltMap::new()));
        let Ok(Value::Node(node)) = from_bolt(&bolt) else { panic!("a node") };
        assert_eq!((node.id.as_str(), node.labels), ("7", vec!["Ant".to_owned(), "Zebra".to_owned()]));
    }

    #[test]
    fn a_path_is_walked_in_both_directions() {
        let rels = vec![
            BoltType::UnboundedRelation(BoltUnboundedRelation::new(10.into(), "R".into(), BoltMap::new())),
            BoltType::UnboundedRelation(BoltUnboundedRelation::new(11.into(), "S".into(), BoltMap::new())),
        ];
        let nodes = vec![BoltType::Node(bolt_node(1, "A")), BoltType::Node(bolt_node(2, "B"))];
        let indices: Vec<BoltType> = [1_i64, 1, -2, 0].into_iter().map(BoltType::from).collect();
        let bolt = BoltPath { nodes: nodes.into(), rels: rels.into(), indices: indices.into() };
        let value = from_bolt(&BoltType::Path(bolt)).unwrap();
        assert_eq!(value.to_string(), "(:A {x: 1})-[:R]->(:B {x: 2})<-[:S]-(:A {x: 1})");
    }

    #[test]
    fn a_broken_path_is_refused() {
        let nodes = vec![BoltType::Node(bolt_node(1, "A"))];
        let indices: Vec<BoltType> = [1_i64, 5].into_iter().map(BoltType::from).collect();
        let bolt = BoltPath { nodes: nodes.into(), rels: BoltList::new(), indices: indices.into() };
        assert!(from_bolt(&BoltType::Path(bolt)).is_err());
    }
}
