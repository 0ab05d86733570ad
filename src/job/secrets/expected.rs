//! Whether there may be a secret in what a case expects: it is looked at without becoming a document.

use std::collections::HashMap;

use serde_json::Value;

use crate::metric::trajectory::Expectation;
use crate::secret::is_key_name;

/// Looks at expectations, most of which have the same keys.
#[derive(Default)]
pub(super) struct ExpectationLook {
    /// The keys that were met, each with whether what it names may be a secret.
    keys: HashMap<String, bool>,
}

impl ExpectationLook {
    /// Whether there may be one: nowhere but under the name of a key, in a command line, or in an address.
    pub(super) fn may_be_expected(&mut self, expected: &Expectation) -> bool {
        let calls = || expected.calls.iter().flatten();
        let mut values = calls().flat_map(|call| call.args.iter().chain(&call.result)).chain(&expected.state);
        // Few calls have rules.
        expected.texts().any(has_address)
            || values.any(|value| self.is_suspicious(value, false))
            || calls().any(|call| !call.rules.is_empty())
            || expected.goals.iter().flatten().any(|(goal, _)| self.names_secret(goal))
    }

    /// The same of a case's document, in which nothing is a secret but what would be one anywhere.
    pub(super) fn may_be_in_case(&mut self, case: &Value) -> bool {
        self.is_suspicious(case, false)
    }

    fn is_suspicious(&mut self, value: &Value, is_named: bool) -> bool {
        match value {
            Value::String(text) => is_named || has_address(text),
            Value::Array(items) => items.iter().any(|item| self.is_suspicious(item, is_named)),
            Value::Object(entries) => entries.iter().any(|(key, value)| {
                let is_named = self.names_secret(key);
                self.is_suspicious(value, is_named)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn names_secret(&mut self, key: &str) -> bool {
        if let Some(known) = self.keys.get(key) {
            return *known;
        }
        let names_secret = is_key_name(key) || matches!(key, "apiKeyEnv" | "command");
        self.keys.insert(key.to_owned(), names_secret);
        names_secret
    }
}

/// Whether an address may be in a text, in which a login may be.
fn has_address(text: &str) -> bool {
    memchr::memchr(b':', text.as_bytes()).is_some() && text.contains("://")
}
