//! The environment's variables as they were when the program began: any of them can hold a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Secret, secrets_of};

/// Variables by name. `Debug` shows names only; a variable without a value is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Arc<BTreeMap<String, Secret>>);

impl Variables {
    /// A key or a password.
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }

    /// All variables that are keys or passwords by their names, and logins in addresses.
    pub fn secrets(&self) -> impl Iterator<Item = Secret> {
        self.0.iter().flat_map(|(name, value)| secrets_of(name, value.expose()).into_iter().map(Secret::new))
    }

    /// The variables whose names this accepts, as names and values.
    pub fn matching(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter(move |(name, _)| is_wanted(name)).map(|(name, value)| (name.as_str(), value.expose()))
    }

    /// The variables with these names, in any case, without values that hold a login.
    pub fn without_login(&self, names: [&str; 3]) -> impl Iterator<Item = (&str, &str)> {
        let is_one = move |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.matching(is_one).filter(|(_, value)| !value.contains('@'))
    }

    /// The same with others in place of those with these names.
    pub fn replaced<'a>(&'a self, names: &[&str], others: impl IntoIterator<Item = (&'a str, &'a str)>) -> Variables {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        let kept = kept.map(|(name, value)| (name.as_str(), value.expose()));
        kept.chain(others).collect()
    }

    /// Something that may be shown: an address, a model's name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::expose)
    }
}

impl<Name: Into<String>, Value: Into<String>> FromIterator<(Name, Value)> for Variables {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(variables: I) -> Variables {
        let pairs = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let set = pairs.filter(|(_, value)| !value.is_empty());
        Variables(Arc::new(set.map(|(name, value)| (name, Secret::new(value))).collect()))
    }
}
