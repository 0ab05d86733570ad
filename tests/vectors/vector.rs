//! One vector: read, and held against an answer.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Dialect;

/// Numbers that differ by less are the same, where a vector gives no tolerance of its own.
const TOLERANCE: f64 = 1e-6;
/// Keys of `expected` that are remarks or rules of comparison.
const REMARKS: [&str; 7] =
    ["tolerance", "origin", "better_expected", "error", "error_contains", "config_error", "trap"];

/// One input with the results that a system has for it.
pub struct Vector {
    /// Whose it is: the folder's name.
    pub system: String,
    /// Its name.
    pub name: String,
    /// What is measured, and how.
    pub input: Value,
    /// What comes out.
    pub expected: Value,
    better: Option<Value>,
    /// Where files that it names are looked for.
    pub folders: Vec<PathBuf>,
}

impl Vector {
    /// Reads one of a system.
    pub fn from_value(system: &str, value: Value, folders: Vec<PathBuf>) -> Result<Vector, String> {
        let of = |key: &str| value.get(key).cloned();
        let mut expected = of("expected").ok_or("a vector has no `expected`")?;
        let within = expected.as_object_mut().and_then(|it| it.remove("better_expected"));
        Ok(Vector {
            system: system.to_owned(),
            name: of("name").and_then(|it| Some(it.as_str()?.to_owned())).ok_or("a vector has no `name`")?,
            input: of("input").ok_or("a vector has no `input`")?,
            better: within.or_else(|| of("better_expected")),
            expected,
            folders,
        })
    }

    /// Its system and name.
    pub fn place(&self) -> String {
        format!("{}: {}", self.system, self.name)
    }

    /// The keys of its input.
    pub fn keys(&self) -> Vec<&str> {
        self.input.as_object().map(|it| it.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// Whether its input has all these keys.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.input.get(key).is_some())
    }

    /// Whether its result has this key.
    pub fn expects(&self, key: &str) -> bool {
        self.expected.get(key).is_some()
    }

    /// Whether it is of this system and its name begins so.
    pub fn is(&self, system: &str, beginning: &str) -> bool {
        self.system == system && self.name.starts_with(beginning)
    }

    /// A text of its input.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.input.get(key)?.as_str()
    }

    /// A yes or no of its input.
    pub fn flag(&self, key: &str) -> bool {
        self.input.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A list of its input.
    pub fn list(&self, key: &str) -> &[Value] {
        self.input.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// What each dialect must answer: the system's own under strict and, where a better one is known, that by default.
    pub fn expectations(&self) -> Vec<(Dialect, Value)> {
        let mut all = vec![(Dialect::Strict, self.expected.clone())];
        let Some(better) = &self.better else { return all };
        let better = match (&self.expected, better) {
            (Value::Object(expected), Value::Object(better)) => {
                Value::Object(expected.clone().into_iter().chain(better.clone()).collect())
            }
            // A single value takes the place of the result's first one.
            (Value::Object(expected), better) => {
                let mut expected = expected.clone();
                if let Some((_, first)) = expected.iter_mut().find(|(key, _)| !REMARKS.contains(&key.as_str())) {
                    *first = better.clone();
                }
                Value::Object(expected)
            }
            (_, better) => better.clone(),
        };
        all.push((Dialect::Default, better));
        all
    }
}

/// All vectors of a folder with its systems' folders. Files that they name are looked for there, and then in our own.
pub fn read_all(folder: &Path, own: &Path) -> Vec<Vector> {
    let mut all = Vec::new();
    for path in crate::house::files(folder, "json").iter().filter(|it| it.ends_with("vectors.json")) {
        let system = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let values: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let folders = vec![path.parent().unwrap().to_owned(), folder.to_owned(), own.to_owned()];
        for value in values {
            let vector = Vector::from_value(&system, value, folders.clone());
            all.push(vector.unwrap_or_else(|why| panic!("{}: {why}", path.display())));
        }
    }
    all
}

/// Whether the answer is the expected one.
pub fn compare(expected: &Value, given: &Result<Value, String>) -> Result<(), String> {
    let must_fail = ["error", "config_error"].iter().any(|key| match expected.get(key) {
        Some(Value::Bool(is_error)) => *is_error,
        Some(Value::String(_)) => true,
        _ => false,
    });
    let given = match (given, must_fail) {
        (Err(_), true) => return Ok(()),
        (Ok(given), true) => return Err(format!("expected an error, got {given}")),
        (Err(why), false) => return Err(format!("expected {expected}, got the error: {why}")),
        (Ok(given), false) => given,
    };
    let tolerance = expected.get("tolerance").and_then(Value::as_f64).unwrap_or(TOLERANCE);
    // Whose words the original's are does not matter; that there is a reason does.
    if expected.get("error_contains").is_some() && given.get("why").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(format!("expected a reason, got {given}"));
    }
    let Some(expected) = expected.as_object().filter(|_| given.is_object()) else {
        return same(expected, given, tolerance).then_some(()).ok_or(format!("expected {expected}, got {given}"));
    };
    let differs = |(key, value): &(&String, &Value)| {
        !REMARKS.contains(&key.as_str()) && !given.get(key).is_some_and(|given| same(value, given, tolerance))
    };
    let wrong: Map<String, Value> =
        expected.iter().filter(differs).map(|(key, it)| (key.clone(), it.clone())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("expected {}, got {given}", Value::Object(wrong))) }
}

/// Equal, numbers within the tolerance.
fn same(a: &Value, b: &Value, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= tolerance)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, tolerance)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, tolerance)))
        }
        _ => a == b,
    }
}
