//! A JSON value that is read once somebody looks at it: most arguments and results of recorded calls are only passed on.

mod compact;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value, read or still the text that it is written as. It is used like the value itself.
#[derive(Clone)]
pub struct LazyValue(ValueForm);

#[derive(Clone)]
enum ValueForm {
    Read(Value),
    /// As it is written, and the value once somebody looked at it.
    Written(Box<RawValue>, OnceLock<Box<Value>>),
}

impl LazyValue {
    /// The value that a JSON text is, which is not read yet. `None` where it must be read now: it may be no JSON, or not all of it is
    /// written as it stands there.
    pub fn from_text(text: &str) -> Option<LazyValue> {
        let text = RawValue::from_string(compact::compacted(text)?).ok()?;
        Some(LazyValue(ValueForm::Written(text, OnceLock::new())))
    }

    /// Whether both are known to be the same value without a look into them.
    pub fn is_written_as(&self, other: &LazyValue) -> bool {
        self.written().is_some_and(|own| other.written() == Some(own))
    }

    /// Its text without white space, where it is not read yet or was written like this.
    pub fn written(&self) -> Option<&str> {
        if let ValueForm::Written(text, _) = &self.0 { Some(text.get()) } else { None }
    }

    /// The value.
    pub fn into_value(self) -> Value {
        match self.0 {
            ValueForm::Read(value) => value,
            ValueForm::Written(text, value) => value.into_inner().map_or_else(|| read(&text), |value| *value),
        }
    }

    /// The value, to be changed; there always is one.
    pub fn read_mut(&mut self) -> Option<&mut Value> {
        if matches!(self.0, ValueForm::Written(..)) {
            self.0 = ValueForm::Read(std::mem::take(self).into_value());
        }
        if let ValueForm::Read(value) = &mut self.0 { Some(value) } else { None }
    }
}

/// The value of a text that was compacted: it is JSON.
fn read(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).unwrap_or_default()
}

impl Deref for LazyValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        match &self.0 {
            ValueForm::Read(value) => value,
            ValueForm::Written(text, value) => value.get_or_init(|| Box::new(read(text))),
        }
    }
}

impl Default for LazyValue {
    fn default() -> LazyValue {
        Value::Null.into()
    }
}

impl From<Value> for LazyValue {
    fn from(value: Value) -> LazyValue {
        LazyValue(ValueForm::Read(value))
    }
}

impl From<LazyValue> for Value {
    fn from(value: LazyValue) -> Value {
        value.into_value()
    }
}

impl PartialEq for LazyValue {
    fn eq(&self, other: &LazyValue) -> bool {
        self.is_written_as(other) || **self == **other
    }
}

impl PartialEq<Value> for LazyValue {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

impl fmt::Debug for LazyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for LazyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ValueForm::Read(value) => value.fmt(f),
            ValueForm::Written(text, _) if !f.alternate() => f.write_str(text.get()),
            ValueForm::Written(..) => fmt::Display::fmt(&**self, f),
        }
    }
}

impl Serialize for LazyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            ValueForm::Read(value) => value.serialize(serializer),
            ValueForm::Written(text, _) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for LazyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LazyValue, D::Error> {
        Value::deserialize(deserializer).map(LazyValue::from)
    }
}

impl JsonSchema for LazyValue {
    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn inline_schema() -> bool {
        Value::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}
