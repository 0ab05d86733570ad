//! Places in a JSON document, such as those that alone are compared.

use serde_json::Value;

use super::measured::{MeasureProblem, problem};

/// Places in a document. A place below a list is one in each of its elements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection(Vec<(String, Selection)>);

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

    /// Reads trpc-agent-go's trees: objects by keys, `true` for a place.
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
                Value::Bool(true) => all.0.push((key.clone(), Selection::default())),
                Value::Object(_) => {
                    // A tree that selects nothing at all is not a leaf, which selects everything.
                    let below = Selection::from_tree(below)?;
                    all.0.extend((!below.0.is_empty()).then_some((key.clone(), below)));
                }
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
        let below = |(key, below): &(String, Selection)| match below.is_leaf() {
            true => vec![format!("/{}", escaped(key))],
            false => below.to_paths().into_iter().map(|path| format!("/{}{path}", escaped(key))).collect(),
        };
        self.0.iter().flat_map(below).collect()
    }

    /// The keys on the way to its places.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(key, _)| key)
    }

    fn add(&mut self, keys: &[String]) {
        let Some((key, below)) = keys.split_first() else { return };
        match self.0.iter_mut().find(|(known, _)| known == key) {
            // A place includes whatever is below it.
            Some((_, known)) if known.0.is_empty() || below.is_empty() => known.0.clear(),
            Some((_, known)) => known.add(below),
            None => {
                let mut selection = Selection::default();
                selection.add(below);
                self.0.push((key.clone(), selection));
            }
        }
    }

    /// The selection below a key; `None` if nothing is selected.
    pub(super) fn below(&self, key: &str) -> Option<&Selection> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, below)| below)
    }

    /// Whether it is a place itself, with all below it.
    pub(super) fn is_leaf(&self) -> bool {
        self.0.is_empty()
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
        assert_eq!(Selection::from_paths(&tree.to_paths()).unwrap(), tree);
        for tree in [json!({"a": "true"}), json!({"a": {"b": 1}}), json!([])] {
            assert!(Selection::from_tree(&tree).is_err());
        }
        for path in ["", "a..b", "/a//b", "."] {
            assert!(Selection::from_paths(&[path]).is_err(), "{path}");
        }
    }
}
