//! Data as a script sees it: JSON as Rhai's own values, and records of our API.

use std::collections::BTreeMap;
use std::sync::Arc;

use rhai::{Dynamic, Map};
use serde_json::Value as Json;

use super::api::ApiType;

/// A thing of our API: its fields are fixed by [`ApiType::fields`], so that a wrong name is an error and not absent data.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// Its type.
    pub(crate) kind: ApiType,
    /// Its fields, all of them.
    pub(crate) fields: Arc<BTreeMap<&'static str, Dynamic>>,
}

impl Record {
    pub(crate) fn dynamic<const N: usize>(kind: ApiType, fields: [(&'static str, Dynamic); N]) -> Dynamic {
        debug_assert!(kind.fields().iter().all(|(name, _)| fields.iter().any(|(field, _)| field == name)));
        Dynamic::from(Record { kind, fields: Arc::new(fields.into()) })
    }
}

pub(crate) fn list(items: impl Iterator<Item = Dynamic>) -> Dynamic {
    Dynamic::from_array(items.collect())
}

pub(crate) fn map(entries: &serde_json::Map<String, Json>) -> Dynamic {
    Dynamic::from_map(entries.iter().map(|(key, value)| (key.as_str().into(), data(value))).collect::<Map>())
}

/// JSON as Rhai's own values; `null` reads as `()`, like everything that is absent.
pub(crate) fn data(json: &Json) -> Dynamic {
    match json {
        Json::Null => Dynamic::UNIT,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().map_or(Dynamic::UNIT, Dynamic::from),
        },
        Json::String(text) => text.clone().into(),
        Json::Array(items) => list(items.iter().map(data)),
        Json::Object(entries) => map(entries),
    }
}
