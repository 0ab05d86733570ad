//! JSON in which an object says one thing twice, and differently: parsers take the first, the last, or none.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The first key to which an object of a JSON text, however deep, gives two different values. `None` where there is none,
/// or the text is no JSON.
pub fn contradiction(json: &str) -> Option<String> {
    if !repeats_a_key(json) {
        return None;
    }
    let error = serde_json::from_str::<Consistent>(json).err().filter(serde_json::Error::is_data)?;
    let message = error.to_string();
    Some(message.split_once(MARK)?.1.split_once(MARK)?.0.to_owned())
}

/// Whether an object of a JSON text has a key twice, before the text ends or is no JSON any more.
fn repeats_a_key(json: &str) -> bool {
    serde_json::from_str::<DuplicateKeyCheck>(json).is_err_and(|error| error.is_data())
}

/// A value of which nothing is kept, and in which no object has a key twice.
struct DuplicateKeyCheck;

impl<'de> Deserialize<'de> for DuplicateKeyCheck {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DuplicateKeyCheck, D::Error> {
        deserializer.deserialize_any(DuplicateKeyCheck)
    }
}

impl<'de> Visitor<'de> for DuplicateKeyCheck {
    type Value = DuplicateKeyCheck;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<DuplicateKeyCheck, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DuplicateKeyCheck, A::Error> {
        while items.next_element::<DuplicateKeyCheck>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<DuplicateKeyCheck, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(ObjectKey(key)) = entries.next_key()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("a key twice"));
            }
            entries.next_value::<DuplicateKeyCheck>()?;
        }
        Ok(self)
    }
}

/// A key, borrowed where nothing in it is an escape.
#[derive(PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
struct ObjectKey<'k>(#[serde(borrow)] Cow<'k, str>);

/// Around the key in an error's message: nothing else has it.
const MARK: char = '\u{fdd0}';

/// A value in which every object says each thing once.
struct Consistent(Value);

impl<'de> Deserialize<'de> for Consistent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Consistent, D::Error> {
        deserializer.deserialize_any(Anything).map(Consistent)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok((value as f64).into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok((value as f64).into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Consistent(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map: BTreeMap<String, Value> = BTreeMap::new();
        while let Some((key, Consistent(value))) = entries.next_entry::<String, Consistent>()? {
            if map.get(&key).is_some_and(|first| *first != value) {
                return Err(A::Error::custom(format!("{MARK}{key}{MARK}")));
            }
            map.insert(key, value);
        }
        Ok(map.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_of_one_key_contradict_each_other_where_they_differ() {
        for (json, key) in [
            (r#"{"score":0.1,"score":1.0}"#, Some("score")),
            (r#"{"tasks":[{"reason":"a","score":0.1,"sc\u006fre":1}],"tone":null}"#, Some("score")),
            (r#"{"tasks":[],"tasks":[{}]}"#, Some("tasks")),
            (r#"{"a":{"b":1},"a":{"b":2}}"#, Some("a")),
            (r#"{"score":1,"score":1.0,"list":[1,{"x":null}],"list":[1,{"x":null}]}"#, None),
            (r#"{"a":1,"b":{"a":2}}"#, None),
            (r#"{"a":1,"a":2"#, Some("a")),
            ("no json", None),
            ("", None),
        ] {
            assert_eq!(contradiction(json).as_deref(), key, "{json}");
        }
    }
}
