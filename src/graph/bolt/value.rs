//! The graph's values ↔ packed values, in the client's format.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use super::packstream::{Pack, Writer};
use super::temporal;
use crate::graph::{ConversionError, Node, Path, Point, Relationship, Value};

const NODE: u8 = b'N';
const RELATIONSHIP: u8 = b'R';
const UNBOUND_RELATIONSHIP: u8 = b'r';
const PATH: u8 = b'P';
const POINT_2D: u8 = b'X';
const POINT_3D: u8 = b'Y';

/// The value encoding that a client negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueFormat {
    /// Nodes and relationships carry an element id beside their number (Bolt 5).
    pub(super) element_ids: bool,
    /// Date-times count from the epoch in UTC (Bolt 5, or Bolt 4 with the patch "utc").
    pub(super) utc: bool,
}

/// Numbers for relationships, which the embedded graph knows by a text alone. The same relationship has the same number
/// on all connections of a server.
#[derive(Debug, Default)]
pub(super) struct RelationshipNumbers(Mutex<HashMap<String, i64>>);

impl RelationshipNumbers {
    fn number(&self, id: &str) -> i64 {
        if let Ok(number) = id.parse() {
            return number;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = known.len() as i64;
        if let Some(number) = known.get(id) {
            return *number;
        }
        known.insert(id.to_owned(), next);
        next
    }
}

/// Packs values of the graph for one client.
pub(super) struct Packer<'a> {
    pub(super) out: Writer<'a>,
    pub(super) format: ValueFormat,
    pub(super) numbers: &'a RelationshipNumbers,
}

impl Packer<'_> {
    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.null(),
            Value::Bool(truth) => self.out.bool(*truth),
            Value::Int(number) => self.out.int(*number),
            Value::Float(number) => self.out.float(*number),
            Value::String(text) => self.out.string(text),
            Value::List(items) => self.list(items, Packer::value),
            Value::Map(entries) => self.properties(entries),
            Value::Temporal(temporal) => match temporal::pack(temporal, self.format.utc) {
                Some(structure) => self.out.value(&structure),
                // Cypher prints nothing else; its text is still better than no row.
                None => self.out.string(&temporal.text),
            },
            Value::Point(point) => self.point(point),
            Value::Node(node) => self.node(node),
            Value::Relationship(relationship) => self.relationship(relationship),
            Value::Path(path) => self.path(path),
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.out.list(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn properties(&mut self, entries: &BTreeMap<String, Value>) {
        self.out.map(entries.len());
        for (key, entry) in entries {
            self.out.string(key);
            self.value(entry);
        }
    }

    fn id(&mut self, id: &str) {
        self.out.int(self.numbers.number(id));
    }

    fn element_id(&mut self, id: &str) {
        if self.format.element_ids {
            self.out.string(id);
        }
    }

    fn node(&mut self, node: &Node) {
        self.out.structure(NODE, if self.format.element_ids { 4 } else { 3 });
        self.id(&node.id);
        self.list(&node.labels, |packer, label| packer.out.string(label));
        self.properties(&node.properties);
        self.element_id(&node.id);
    }

    fn relationship(&mut self, relationship: &Relationship) {
        self.out.structure(RELATIONSHIP, if self.format.element_ids { 8 } else { 5 });
        self.id(&relationship.id);
        self.id(&relationship.start);
        self.id(&relationship.end);
        self.out.string(&relationship.kind);
        self.properties(&relationship.properties);
        self.element_id(&relationship.id);
        self.element_id(&relationship.start);
        self.element_id(&relationship.end);
    }

    fn unbound(&mut self, relationship: &Relationship) {
        self.out.structure(UNBOUND_RELATIONSHIP, if self.format.element_ids { 4 } else { 3 });
        self.id(&relationship.id);
        self.out.string(&relationship.kind);
        self.properties(&relationship.properties);
        self.element_id(&relationship.id);
    }

    /// Each node and relationship once, and then the way through them: for each step the relationship, counted from
    /// one and negative when it is walked against its direction, and the node.
    fn path(&mut self, path: &Path) {
        let (mut nodes, mut relationships): (Vec<&Node>, Vec<&Relationship>) = (Vec::new(), Vec::new());
        let mut steps = Vec::new();
        for (at, node) in path.nodes.iter().enumerate() {
            if let Some(relationship) = at.checked_sub(1).and_then(|before| path.relationships.get(before)) {
                let number = place(&mut relationships, relationship, |known| known.id == relationship.id) as i64 + 1;
                // A loop is walked along its direction.
                steps.push(if relationship.end == node.id { number } else { -number });
                steps.push(place(&mut nodes, node, |known| known.id == node.id) as i64);
            } else {
                place(&mut nodes, node, |known| known.id == node.id);
            }
        }
        self.out.structure(PATH, 3);
        self.list(&nodes, |packer, node| packer.node(node));
        self.list(&relationships, |packer, relationship| packer.unbound(relationship));
        self.list(&steps, |packer, step| packer.out.int(*step));
    }

    fn point(&mut self, point: &Point) {
        let tag = if point.coordinates.len() == 3 { POINT_3D } else { POINT_2D };
        self.out.structure(tag, point.coordinates.len() + 1);
        self.out.int(point.srid.into());
        for coordinate in &point.coordinates {
            self.out.float(*coordinate);
        }
    }
}

fn place<'a, T>(known: &mut Vec<&'a T>, item: &'a T, same: impl Fn(&T) -> bool) -> usize {
    known.iter().position(|known| same(known)).unwrap_or_else(|| {
        known.push(item);
        known.len() - 1
    })
}

/// A parameter's value.
pub(super) fn unpack(pack: Pack) -> Result<Value, ConversionError> {
    Ok(match pack {
        Pack::Null => Value::Null,
        Pack::Bool(truth) => Value::Bool(truth),
        Pack::Int(number) => Value::Int(number),
        Pack::Float(number) => Value::Float(number),
        Pack::Bytes(_) => {
            return Err(ConversionError("a byte array, which the embedded graph does not have".to_owned()));
        }
        Pack::String(text) => Value::String(text),
        Pack::List(items) => Value::List(items.into_iter().map(unpack).collect::<Result<_, _>>()?),
        Pack::Map(entries) => Value::Map(self::entries(entries)?),
        Pack::Structure(tag, fields) => match temporal::unpack(tag, &fields) {
            Some(temporal) => Value::Temporal(temporal),
            None => point(tag, &fields).map(Value::Point).ok_or_else(|| unfit(tag))?,
        },
    })
}

/// All of a map.
pub(super) fn entries(entries: Vec<(String, Pack)>) -> Result<BTreeMap<String, Value>, ConversionError> {
    entries.into_iter().map(|(key, value)| Ok((key, unpack(value)?))).collect()
}

fn unfit(tag: u8) -> ConversionError {
    ConversionError(match tag {
        NODE => "a node, and only plain values can be parameters".to_owned(),
        RELATIONSHIP | UNBOUND_RELATIONSHIP => "a relationship, and only plain values can be parameters".to_owned(),
        PATH => "a path, and only plain values can be parameters".to_owned(),
        tag => format!("a structure (tag {tag:#04x}) that is unknown or out of range"),
    })
}

fn point(tag: u8, fields: &[Pack]) -> Option<Point> {
    let (Pack::Int(srid), size) = (fields.first()?, if tag == POINT_2D { 3 } else { 4 }) else { return None };
    if !matches!(tag, POINT_2D | POINT_3D) || fields.len() != size {
        return None;
    }
    let number = |pack: &Pack| if let Pack::Float(number) = pack { Some(*number) } else { None };
    Some(Point {
        srid: u32::try_from(*srid).ok()?,
        coordinates: fields[1..].iter().map(number).collect::<Option<Vec<f64>>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::packstream::read;
    use super::*;

    fn packed(value: &Value, five: bool) -> Pack {
        let mut bytes = Vec::new();
        let format = ValueFormat { element_ids: five, utc: five };
        Packer { out: Writer(&mut bytes), format, numbers: &RelationshipNumbers::default() }.value(value);
        read(&bytes).unwrap()
    }

    fn node(id: &str) -> Node {
        Node { id: id.to_owned(), labels: vec!["N".to_owned()], properties: BTreeMap::new() }
    }

    fn relationship(id: &str, start: &str, end: &str) -> Relationship {
        Relationship {
            id: id.to_owned(),
            kind: "R".to_owned(),
            start: start.to_owned(),
            end: end.to_owned(),
            properties: [("x".to_owned(), Value::Int(1))].into(),
        }
    }

    #[test]
    fn nodes_and_relationships_have_the_shape_of_their_version() {
        let labels = Pack::List(vec!["N".into()]);
        let four = Pack::Structure(b'N', vec![Pack::Int(3), labels.clone(), Pack::Map(vec![])]);
        let five = Pack::Structure(b'N', vec![Pack::Int(3), labels, Pack::Map(vec![]), "3".into()]);
        assert_eq!((packed(&node("3").into(), false), packed(&node("3").into(), true)), (four, five));
        for (five, size) in [(false, 5), (true, 8)] {
            let Pack::Structure(b'R', fields) = packed(&relationship("1-R-2-0", "1", "2").into(), five) else {
                panic!()
            };
            assert_eq!((fields.len(), &fields[1], &fields[2]), (size, &Pack::Int(1), &Pack::Int(2)));
        }
    }

    #[test]
    fn a_path_names_everything_once_and_then_the_way() {
        let path = Path {
            nodes: vec![node("1"), node("2"), node("1")],
            relationships: vec![relationship("a", "1", "2"), relationship("b", "1", "2")],
        };
        let Pack::Structure(b'P', fields) = packed(&Value::Path(path), true) else { panic!() };
        let [Pack::List(nodes), Pack::List(relationships), steps] = fields.as_slice() else { panic!() };
        assert_eq!((nodes.len(), relationships.len()), (2, 2));
        assert_eq!(*steps, Pack::List([1, 1, -2, 0].map(Pack::Int).to_vec()));
    }

    #[test]
    fn relationships_keep_their_numbers() {
        let numbers = RelationshipNumbers::default();
        assert_eq!(
            (numbers.number("a"), numbers.number("b"), numbers.number("a"), numbers.number("17")),
            (0, 1, 0, 17)
        );
    }

    #[test]
    fn points_come_and_go() {
        for coordinates in [vec![1.0, 2.0], vec![1.0, 2.0, 3.0]] {
            let point = Value::Point(Point { srid: 7203, coordinates });
            assert_eq!(unpack(packed(&point, true)), Ok(point));
        }
        assert!(unpack(Pack::Structure(b'X', vec![Pack::Int(1), Pack::Float(1.0)])).is_err());
        assert!(unpack(Pack::Structure(b'X', vec![])).is_err());
    }

    #[test]
    fn what_can_not_be_a_parameter_is_named() {
        assert!(unpack(Pack::Bytes(vec![1])).unwrap_err().to_string().contains("byte array"));
        assert!(unpack(packed(&node("3").into(), true)).unwrap_err().to_string().contains("a node"));
        assert!(unpack(Pack::Structure(0x99, vec![])).unwrap_err().to_string().contains("0x99"));
    }
}
