//! Values as JSON that keeps every type.
//!
//! Null, booleans, strings, numbers and lists are themselves; a number with a fraction or an exponent is a float. All
//! else is an object with one key that starts with `$`: `$float` (`"NaN"`, `"Infinity"`, `"-Infinity"`), `$date`,
//! `$time`, `$localTime`, `$dateTime`, `$localDateTime`, `$duration` (ISO 8601 text), `$point`, `$node`,
//! `$relationship`, `$path`. A map is an object, wrapped in `$map` when one of its own keys starts with `$`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Temporal, TemporalKind, Value};

const TEMPORALS: [(&str, TemporalKind); 6] = [
    ("$date", TemporalKind::Date),
    ("$time", TemporalKind::Time),
    ("$localTime", TemporalKind::LocalTime),
    ("$dateTime", TemporalKind::DateTime),
    ("$localDateTime", TemporalKind::LocalDateTime),
    ("$duration", TemporalKind::Duration),
];

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Float(_) => wrapped(serializer, "$float", &self.to_string()),
            Value::String(text) => serializer.serialize_str(text),
            Value::List(items) => items.serialize(serializer),
            Value::Map(entries) if entries.keys().any(|key| key.starts_with('$')) => {
                wrapped(serializer, "$map", entries)
            }
            Value::Map(entries) => entries.serialize(serializer),
            Value::Temporal(temporal) => wrapped(serializer, temporal_key(temporal.kind), &temporal.text),
            Value::Point(point) => wrapped(serializer, "$point", point),
            Value::Node(node) => wrapped(serializer, "$node", node),
            Value::Relationship(relationship) => wrapped(serializer, "$relationship", relationship),
            Value::Path(path) => wrapped(serializer, "$path", path),
        }
    }
}

fn wrapped<S: Serializer>(serializer: S, key: &str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

fn temporal_key(kind: TemporalKind) -> &'static str {
    TEMPORALS.iter().find(|(_, known)| *known == kind).map_or("$temporal", |(key, _)| key)
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a graph value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number).map(Value::Int).map_err(|_| E::custom(format!("{number} does not fit a 64-bit integer")))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key.starts_with('$') {
                let value = typed(&key, &mut entries)?;
                return match map.is_empty() && entries.next_key::<String>()?.is_none() {
                    true => Ok(value),
                    false => Err(A::Error::custom(format!("`{key}` must be the only key of its object"))),
                };
            }
            map.insert(key, entries.next_value()?);
        }
        Ok(Value::Map(map))
    }
}

fn typed<'de, A: MapAccess<'de>>(key: &str, entries: &mut A) -> Result<Value, A::Error> {
    if let Some((_, kind)) = TEMPORALS.iter().find(|(known, _)| *known == key) {
        return Ok(Value::Temporal(Temporal { kind: *kind, text: entries.next_value()? }));
    }
    Ok(match key {
        "$float" => Value::Float(match entries.next_value::<String>()?.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            other => return Err(A::Error::custom(format!("`{other}` is no special float"))),
        }),
        "$map" => Value::Map(entries.next_value()?),
        "$point" => Value::Point(entries.next_value()?),
        "$node" => Value::Node(entries.next_value()?),
        "$relationship" => Value::Relationship(entries.next_value()?),
        "$path" => Value::Path(entries.next_value()?),
        other => return Err(A::Error::custom(format!("`{other}` is no type of graph value"))),
    })
}
