//! Values of a property graph, with their types: what a query returns and what it is given.
//!
//! Invariants: a value survives JSON with its type; its `Display` is Cypher, one line, for reports.

mod display;
mod from;
mod json;
mod temporal;
#[cfg(test)]
mod tests;

pub use temporal::{ParsedTemporal, zone_offset};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A value of the property-graph model, as Cypher knows it. Integers stay integers, floats stay floats.
///
/// It serialises to JSON that keeps every type: null, booleans, strings, numbers and lists are themselves; whatever
/// JSON cannot tell apart is an object with one key that starts with `$` (`{"$node": …}`, `{"$float": "NaN"}`).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Cypher's `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float; NaN and infinities can occur.
    Float(f64),
    /// A string.
    String(String),
    /// A list; its items may be of different types.
    List(Vec<Value>),
    /// A map, ordered by key.
    Map(BTreeMap<String, Value>),
    /// A date, time, date-time or duration.
    Temporal(Temporal),
    /// A point in space.
    Point(Point),
    /// A node.
    Node(Node),
    /// A relationship.
    Relationship(Relationship),
    /// A path.
    Path(Path),
}

impl Value {
    /// Whether it is the same value of the same type; unlike `==`, NaN is the same as itself.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(one), Value::Float(other)) => one == other || one.is_nan() && other.is_nan(),
            (Value::List(ones), Value::List(others)) => {
                ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| one.is_same(other))
            }
            _ => self == other,
        }
    }
}

/// A node: ids are the backend's own, and only distinguish the nodes of one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The backend's id.
    pub id: String,
    /// Its labels, sorted.
    pub labels: Vec<String>,
    /// Its properties.
    pub properties: BTreeMap<String, Value>,
}

/// A relationship between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relationship {
    /// The backend's id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id of the node where it starts.
    pub start: String,
    /// The id of the node where it ends.
    pub end: String,
    /// Its properties.
    pub properties: BTreeMap<String, Value>,
}

/// A path: one node more than relationships.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The nodes, in order.
    pub nodes: Vec<Node>,
    /// The relationships between them, in order.
    pub relationships: Vec<Relationship>,
}

/// A point, in one of Neo4j's coordinate reference systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The system's id: 4326 and 4979 are WGS-84, 7203 and 9157 Cartesian.
    pub srid: u32,
    /// Two or three numbers.
    pub coordinates: Vec<f64>,
}

/// Which temporal type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TemporalKind {
    /// A calendar date.
    Date,
    /// A time of day with an offset.
    Time,
    /// A time of day.
    LocalTime,
    /// A moment with an offset or a zone.
    DateTime,
    /// A date and a time of day.
    LocalDateTime,
    /// An ISO 8601 duration.
    Duration,
}

impl TemporalKind {
    /// The function of Cypher that makes such a value of its text.
    pub fn constructor(self) -> &'static str {
        match self {
            TemporalKind::Date => "date",
            TemporalKind::Time => "time",
            TemporalKind::LocalTime => "localtime",
            TemporalKind::DateTime => "datetime",
            TemporalKind::LocalDateTime => "localdatetime",
            TemporalKind::Duration => "duration",
        }
    }
}

/// A temporal value in its ISO 8601 text, the form that both backends print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temporal {
    /// Which type.
    pub kind: TemporalKind,
    /// ISO 8601, as Cypher's `toString` prints it.
    pub text: String,
}

/// The rows of a query's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Column names, in order; empty when a backend does not report them for an empty result.
    pub columns: Vec<String>,
    /// One value for each column.
    pub rows: Vec<Vec<Value>>,
}
