//! Values as text: as Cypher would write them, on one line.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

use super::{Node, Path, Point, Relationship, Temporal, Value};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Int(number) => write!(f, "{number}"),
            // `Debug` keeps the `.0` of an integral float, so that 2.0 never reads as the integer 2.
            Value::Float(number) if number.is_finite() => write!(f, "{number:?}"),
            Value::Float(number) if number.is_nan() => f.write_str("NaN"),
            Value::Float(number) => f.write_str(if *number > 0.0 { "Infinity" } else { "-Infinity" }),
            Value::String(text) => quoted(text, f),
            Value::List(items) => {
                f.write_char('[')?;
                separated(items, f, |item, f| write!(f, "{item}"))?;
                f.write_char(']')
            }
            Value::Map(entries) => braced(entries, f),
            Value::Temporal(temporal) => write!(f, "{temporal}"),
            Value::Point(point) => write!(f, "{point}"),
            Value::Node(node) => write!(f, "{node}"),
            Value::Relationship(relationship) => write!(f, "{relationship}"),
            Value::Path(path) => write!(f, "{path}"),
        }
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for label in &self.labels {
            f.write_char(':')?;
            name(label, f)?;
        }
        if !self.properties.is_empty() {
            if !self.labels.is_empty() {
                f.write_char(' ')?;
            }
            braced(&self.properties, f)?;
        }
        f.write_char(')')
    }
}

impl Display for Relationship {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[:")?;
        name(&self.kind, f)?;
        if !self.properties.is_empty() {
            f.write_char(' ')?;
            braced(&self.properties, f)?;
        }
        f.write_char(']')
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(relationship) = at.checked_sub(1).and_then(|before| self.relationships.get(before)) {
                if relationship.end == node.id {
                    write!(f, "-{relationship}->")?;
                } else {
                    write!(f, "<-{relationship}-")?;
                }
            }
            write!(f, "{node}")?;
        }
        Ok(())
    }
}

impl Display for Temporal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}('{}')", self.kind.constructor(), self.text)
    }
}

impl Display for Point {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "point({{srid: {}", self.srid)?;
        for (axis, coordinate) in ["x", "y", "z"].iter().zip(&self.coordinates) {
            write!(f, ", {axis}: {}", Value::Float(*coordinate))?;
        }
        f.write_str("})")
    }
}

fn braced(entries: &BTreeMap<String, Value>, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('{')?;
    separated(entries, f, |(key, value), f| {
        name(key, f)?;
        write!(f, ": {value}")
    })?;
    f.write_char('}')
}

fn separated<T>(
    items: impl IntoIterator<Item = T>,
    f: &mut Formatter<'_>,
    mut write: impl FnMut(T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write(item, f)?;
    }
    Ok(())
}

fn name(name: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { f.write_str(name) } else { write!(f, "`{}`", name.replace('`', "``")) }
}

fn quoted(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('\'')?;
    for c in text.chars() {
        match c {
            '\'' => f.write_str("\\'")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            // Agents' texts may hold terminal escapes: a report shows them and never emits them.
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('\'')
}
