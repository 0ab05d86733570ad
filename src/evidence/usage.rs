//! Tokens and calls.

use serde::{Deserialize, Serialize};

/// Tokens and calls of one role. A number that the endpoint did not report is `None`, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Requests that were answered.
    pub calls: u64,
    /// Tokens of the requests.
    pub input_tokens: Option<u64>,
    /// Those of them that the provider had in its prompt cache.
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the replies.
    pub output_tokens: Option<u64>,
    /// Those of them that were spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Both together: a number that only one side knows is the sum of what is known.
    pub fn plus(self, other: Usage) -> Usage {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Usage {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: add(self.input_tokens, other.input_tokens),
            cached_input_tokens: add(self.cached_input_tokens, other.cached_input_tokens),
            output_tokens: add(self.output_tokens, other.output_tokens),
            reasoning_tokens: add(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}
