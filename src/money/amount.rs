//! An amount of money and tokens.

use serde::{Deserialize, Serialize};

use super::Dollars;

/// An amount of money and tokens, the two things that a run can be limited to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    /// The money.
    pub dollars: Dollars,
    /// Tokens of requests and replies.
    pub tokens: u64,
}

impl Amount {
    /// The sum, saturating.
    pub fn plus(self, other: Amount) -> Amount {
        Amount { dollars: self.dollars.plus(other.dollars), tokens: self.tokens.saturating_add(other.tokens) }
    }

    /// The difference, zero at least.
    pub fn minus(self, other: Amount) -> Amount {
        Amount { dollars: self.dollars.minus(other.dollars), tokens: self.tokens.saturating_sub(other.tokens) }
    }

    /// The product, saturating.
    pub fn times(self, count: u64) -> Amount {
        Amount { dollars: self.dollars.times(count), tokens: self.tokens.saturating_mul(count) }
    }

    /// One of so many equal parts, rounded up; all of it for 0.
    pub fn part_of(self, count: u64) -> Amount {
        Amount { dollars: self.dollars.part_of(count), tokens: self.tokens.div_ceil(count.max(1)) }
    }

    /// The larger of each.
    pub fn max(self, other: Amount) -> Amount {
        Amount { dollars: self.dollars.max(other.dollars), tokens: self.tokens.max(other.tokens) }
    }
}
