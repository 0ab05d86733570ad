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
        let mut values = calls().flat_map(|call| call.args.iter().chain(&call.result));
        // Few calls have rules.
        expected.texts().any(has_address)
            || values.any(|value| match value.written() {
                Some(text) => self.is_suspicious_text(text),
                None => self.is_suspicious(value, false),
            })
            || expected.state.iter().any(|state| self.is_suspicious(state, false))
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

    /// The same of a value as it is written, without white space.
    fn is_suspicious_text(&mut self, json: &str) -> bool {
        let bytes = json.as_bytes();
        let mut ends =
            memchr::memchr_iter(b':', bytes).filter_map(|at| at.checked_sub(1)).filter(|at| bytes[*at] == b'"');
        has_address(json)
            || ends.any(|end| {
                let start = memchr::memrchr(b'"', &bytes[..end]).map_or(0, |start| start + 1);
                // An escaped quote, or one of a key that ends elsewhere.
                let is_certain = !json[..end].ends_with('\\') && !json[..start].ends_with("\\\"");
                !is_certain || self.names_secret(&json[start..end])
            })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::LazyValue;
    use crate::metric::trajectory::ExpectedCall;

    #[test]
    fn arguments_that_are_not_read_yet_are_suspicious_wherever_they_are_once_read() {
        for (args, is_suspicious) in [
            (r#"{"city": "Rome", "at": "17:00", "days": [1, {"note": "a: b"}]}"#, false),
            (r#"{"apiKey": "k-1"}"#, true),
            (r#"{"filters": [{"password": "x"}]}"#, true),
            (r#"{"url": "https://ann:pw@host"}"#, true),
            (r#"{"a\"password": "x"}"#, true),
        ] {
            let read: Value = serde_json::from_str(args).unwrap();
            let unread = LazyValue::from_text(args).unwrap();
            let may_be = |args: LazyValue| {
                let expected =
                    Expectation { calls: Some(vec![ExpectedCall::new("t", args)]), ..Expectation::default() };
                ExpectationLook::default().may_be_expected(&expected)
            };
            assert_eq!(may_be(unread), is_suspicious, "{args}");
            assert!(!may_be(read.into()) || is_suspicious, "{args}");
        }
    }
}
