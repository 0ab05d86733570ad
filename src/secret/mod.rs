//! Keys and passwords: text that no log, report or store ever shows. In come secrets and any text or JSON; out goes the
//! same text with the secrets redacted.

mod across;
mod address;
mod decoding;
mod disguise;
mod folding;
mod matcher;
mod naming;
mod redactor;
mod spelling;
#[cfg(test)]
mod tests;
mod variables;

pub use address::secret_parts;
pub use naming::{
    is_key_name, is_long_and_mixed, is_misplaced_in_key, is_secret_header, is_surely_a_key, is_worth_hiding,
    looks_like_a_key,
};
pub use redactor::{Redactor, secrets_of};
pub use variables::Variables;

use std::fmt;

/// The fewest characters of a secret that is redacted in texts from elsewhere.
const SHORTEST: usize = 4;

/// A key or a password. `Debug` hides it; only [`Secret::expose`] gives it away, and only clients call that.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret into custody.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The secret itself, for the header or the login that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text with every occurrence of the secret redacted: for texts from elsewhere. A secret that is as short as a
    /// part of a word is left, because its blots would reveal it and hide the rest.
    pub fn redact(&self, text: &str) -> String {
        if self.0.chars().count() < SHORTEST { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
