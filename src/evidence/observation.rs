//! Observations that are made after the conversation.

use std::fmt::{self, Formatter};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Table;

/// Something that was looked at: what it showed, or why it could not be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Observed<T> {
    /// The observed value.
    Seen(T),
    /// Why it could not be observed; not shown to be the agent's fault.
    Failed(String),
}

/// The result of a Cypher assertion's query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryObservation {
    /// Which assertion of the case.
    pub assertion: AssertionId,
    /// Its rows.
    pub result: Observed<Table>,
    /// Both sides of the comparison that it returns, where conversations find what others left: `true` and `false`
    /// alone don't show which conversation caused it. Of a query that compares nothing, how many values its
    /// functions of all rows have read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<Table>,
}

/// The id of an assertion within its case, stable across runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AssertionId(String);

impl AssertionId {
    /// The id of this text.
    pub fn new(text: impl Into<String>) -> AssertionId {
        AssertionId(text.into())
    }

    /// The id under which the labels and relationship types of the graph are kept beside the assertions' rows.
    pub fn labels() -> AssertionId {
        AssertionId::new("(labels)")
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AssertionId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Version 1 kept the assertion's place instead: it is read as its digits.
impl<'de> Deserialize<'de> for AssertionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AssertionId, D::Error> {
        struct TextOrPlace;
        impl Visitor<'_> for TextOrPlace {
            type Value = AssertionId;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an assertion's id")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<AssertionId, E> {
                Ok(AssertionId::new(text))
            }

            fn visit_u64<E: Error>(self, place: u64) -> Result<AssertionId, E> {
                Ok(AssertionId::new(place.to_string()))
            }
        }
        deserializer.deserialize_any(TextOrPlace)
    }
}
