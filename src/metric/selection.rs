//! Places in a JSON document, such as those that alone are compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::measured::{MeasureProblem, problem};

/// Some parts of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of paths such as [a, b.c], or a tree such as {a: true, b: {c: true}}")]
pub enum Paths {
    /// Paths of keys, `a.b`.
    List(Vec<String>),
    /// Keys whose value is true, false or again such a tree.
    Tree(BTreeMap<String, Value>),
}

impl Default for Paths {
    fn default() -> Paths {
        Paths::List(Vec::new())
    }
}

impl Paths {
    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Paths::List(paths) => paths.is_empty(),
            Paths::Tree(tree) => tree.is_empty(),
        }
    }
}

/// Places in a document. A place below a list is one in each of its elements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Whether it is a place itself, with all below it.
    is_place: bool,
    /// The keys on the way to its places. A key below which there is none must be there, whatever its value.
    keys: Vec<(String, Selection)>,
}

impl Selection {
    /// Reads paths: keys with dots between them (`meta.time`) or, where a key has a dot itself, a JSON Pointer (`/meta/time`).
    ///
    /// # Errors
    /// A path has an empty key.
    pub fn from_paths<S: AsRef<str>>(paths: &[S]) -> Result<Selection, MeasureProblem> {
        let mut all = Selection::default();
        for path in paths.iter().map(AsRef::as_ref) {
            let keys: Vec<String> = match path.strip_prefix('/') {
                Some(pointer) => pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect(),
                None => path.split('.').map(str::to_owned).collect(),
            };
            if keys.iter().any(String::is_empty) {
                return problem(format!("`{path}` is no path: it has an empty key; write `meta.time` or `/meta/time`"));
            }
            all.add(&keys);
        }
        Ok(all)
    }

    /// Reads trees of keys: `true` for a place, `false` for none. Below a key, a tree without places wants the key there.
    ///
    /// # Errors
    /// A leaf is neither true nor false.
    pub fn from_tree(tree: &Value) -> Result<Selection, MeasureProblem> {
        let Value::Object(keys) = tree else {
            return problem(format!("{tree} is no tree of keys: give an object whose leaves are `true`"));
        };
        let mut all = Selection::default();
        for (key, below) in keys {
            match below {
                Value::Bool(false) => {}
                Value::Bool(true) => all.keys.push((key.clone(), Selection { is_place: true, keys: Vec::new() })),
                Value::Object(_) => all.keys.push((key.clone(), Selection::from_tree(below)?)),
                other => {
                    return problem(format!("`{key}` of the tree is {other}: it must be `true`, `false` or an object"));
                }
            }
        }
        Ok(all)
    }

    /// Its places as JSON Pointers.
    pub fn to_paths(&self) -> Vec<String> {
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        let below = |(key, below): &(String, Selection)| match below.is_place {
            true => vec![format!("/{}", escaped(key))],
            false => below.to_paths().into_iter().map(|path| format!("/{}{path}", escaped(key))).collect(),
        };
        self.keys.iter().flat_map(below).collect()
    }

    /// Whether it has a key below which there is no place, which no path says.
    pub(super) fn has_empty(&self) -> bool {
        let is_empty = |below: &Selection| !below.is_place && (below.keys.is_empty() || below.has_empty());
        self.keys.iter().any(|(_, below)| is_empty(below))
    }

    /// The keys on the way to its places.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.keys.iter().map(|(key, _)| key)
    }

    fn add(&mut self, keys: &[String]) {
        let Some((key, below)) = keys.split_first() else {
            (self.is_place, self.keys) = (true, Vec::new());
            return;
        };
        // A place includes whatever is below it.
        if self.is_place {
            return;
        }
        match self.keys.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.add(below),
            None => {
                let mut selection = Selection::default();
                selection.add(below);
                self.keys.push((key.clone(), selection));
            }
        }
    }

    /// The selection below a key; `None` if nothing is selected.
    pub(super) fn below(&self, key: &str) -> Option<&Selection> {
        self.keys.iter().find(|(known, _)| known == key).map(|(_, below)| below)
    }

    /// Whether it is a place itself, with all below it.
    pub(super) fn is_place(&self) -> bool {
        self.is_place
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trees_and_paths_that_are_none_are_refused() {
        assert_eq!(
            Selection::from_tree(&json!({"a": true, "m": {"x": true, "y": false}})).unwrap(),
            Selection::from_paths(&["a", "m.x"]).unwrap()
        );
        let tree = Selection::from_tree(&json!({"a.b": {"c/d~": true, "e": true}, "f": {}})).unwrap();
        assert_eq!(tree.to_paths(), ["/a.b/c~1d~0", "/a.b/e"]);
        assert!(tree.has_empty());
        let whole = Selection::from_paths(&tree.to_paths()).unwrap();
        assert!(!whole.has_empty() && whole.to_paths() == tree.to_paths());
        for tree in [json!({"a": "true"}), json!({"a": {"b": 1}}), json!([])] {
            assert!(Selection::from_tree(&tree).is_err());
        }
        for path in ["", "a..b", "/a//b", "."] {
            assert!(Selection::from_paths(&[path]).is_err(), "{path}");
        }
    }
}
