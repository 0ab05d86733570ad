//! Rust's own types as values, and JSON text's types as values.

use super::{Node, Path, Point, Relationship, Temporal, Value};

macro_rules! from {
    ($($source:ty => $variant:ident),* $(,)?) => {
        $(impl From<$source> for Value {
            fn from(value: $source) -> Value {
                Value::$variant(value.into())
            }
        })*
    };
}

from! {
    bool => Bool, i64 => Int, i32 => Int, u32 => Int, f64 => Float, &str => String, String => String,
    Temporal => Temporal, Point => Point, Node => Node, Relationship => Relationship, Path => Path,
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Value {
    fn from(entries: [(K, V); N]) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// Plain JSON, as a job file or an agent writes it: no `$` forms are read. A number is an integer when it is written as
/// one and fits 64 bits, else a float.
impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Value::Int(integer),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Value::String(text),
            serde_json::Value::Array(items) => items.into(),
            serde_json::Value::Object(entries) => {
                Value::Map(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}
