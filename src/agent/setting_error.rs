//! Errors in a job's settings for a transport.

use std::fmt;

use super::{AgentError, AgentErrorKind};
use crate::text::Position;

/// A setting that can't work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// Its key, relative to the settings that it is part of; empty for those as a whole.
    key: String,
    /// The character within its text.
    at: Option<Position>,
    /// The problem, in a sentence.
    problem: String,
}

impl SettingError {
    pub(super) fn new(key: impl Into<String>, problem: impl fmt::Display) -> SettingError {
        SettingError { key: key.into(), at: None, problem: problem.to_string() }
    }

    /// A problem of a character in the setting's text, where that is known.
    pub(super) fn within(key: impl Into<String>, at: Option<Position>, problem: impl fmt::Display) -> SettingError {
        SettingError { at, ..SettingError::new(key, problem) }
    }

    /// The path of its key: `target.http.say.url`.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The character within its text.
    pub fn position(&self) -> Option<Position> {
        self.at
    }

    /// The problem, in a sentence.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The same error with its key below another one.
    pub(super) fn below(self, parent: &str) -> SettingError {
        let key = if self.key.is_empty() { parent.to_owned() } else { format!("{parent}.{}", self.key) };
        SettingError { key, ..self }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.key)?;
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SettingError {}

/// The client of an agent can't be made.
impl From<SettingError> for AgentError {
    fn from(error: SettingError) -> AgentError {
        AgentError::new(AgentErrorKind::Unreachable, error.to_string())
    }
}
