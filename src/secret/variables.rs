//! The environment's variables as they were when the program began: any of them can hold a key.

use std::collections::BTreeMap;

use super::Secret;

/// Variables by name. `Debug` shows names only; a variable without a value is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, Secret>);

impl Variables {
    /// A key or a password.
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }

    /// All that are keys or passwords by their names, whoever they are for. Short values are left out: they would take
    /// innocent words with them.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        const ENDINGS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];
        let is_secret = |name: &str| ENDINGS.iter().any(|ending| name.to_uppercase().ends_with(ending));
        self.0.iter().filter(move |(name, value)| is_secret(name) && value.expose().len() >= 8).map(|(_, value)| value)
    }

    /// Something that may be shown: an address, a model's name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::expose)
    }
}

impl<Name: Into<String>, Value: Into<String>> FromIterator<(Name, Value)> for Variables {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(variables: I) -> Variables {
        let pairs = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Variables(
            pairs.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, Secret::new(value))).collect(),
        )
    }
}
