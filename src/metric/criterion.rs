//! Reading trpc-agent-go's criteria: JSON objects whose keys may be left out.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::measured::MeasureProblem;

/// Whether a criterion's key is true.
pub(super) fn flag(criterion: &Value, key: &str) -> bool {
    criterion.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// The keyword at a criterion's key; the default one where it is left out or empty.
pub(super) fn keyword<T: DeserializeOwned + Default>(criterion: &Value, key: &str) -> Result<T, MeasureProblem> {
    match criterion.get(key) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(Value::String(word)) if word.is_empty() => Ok(T::default()),
        Some(other) => read(key, other),
    }
}

/// The object at a criterion's key; `None` where it is left out.
pub(super) fn object<T: DeserializeOwned>(criterion: &Value, key: &str) -> Result<Option<T>, MeasureProblem> {
    criterion.get(key).filter(|it| !it.is_null()).map(|it| read(key, it)).transpose()
}

/// Refuses what only a function that is registered in Go can do.
pub(super) fn refuse_registered(criterion: &Value, key: &str) -> Result<(), MeasureProblem> {
    match criterion.get(key).and_then(Value::as_str).filter(|name| !name.is_empty()) {
        Some(name) => Err(MeasureProblem(format!(
            "`{key}` names `{name}`, which is registered in a Go program: it can't be run here"
        ))),
        None => Ok(()),
    }
}

fn read<T: DeserializeOwned>(key: &str, value: &Value) -> Result<T, MeasureProblem> {
    serde_json::from_value(value.clone()).map_err(|why| MeasureProblem(format!("`{key}`: {why}")))
}
