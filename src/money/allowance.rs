//! What one model may still spend.

use std::sync::Arc;

use super::{Amount, Cost, Dollars, LimitExceeded, Price, Reservation, SpendTracker};
use crate::evidence::Usage;

/// What a model's requests are paid from.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// What the run has spent and may spend.
    pub spend_tracker: Arc<SpendTracker>,
    /// What the model costs; `None` where nobody knows, which is no matter where money is not limited.
    pub price: Option<Price>,
    /// The longest reply that is asked for, in tokens.
    pub longest_reply: u64,
}

impl Allowance {
    /// Sets aside the most that a request of so many bytes can cost: no token of text is shorter than a byte.
    ///
    /// # Errors
    /// It does not fit any more.
    pub async fn set_aside(&self, bytes: usize) -> Result<Reservation, LimitExceeded> {
        let input = bytes as u64;
        let dollars = self.price.map_or(Dollars::ZERO, |price| price.at_most(input, self.longest_reply));
        self.spend_tracker.set_aside(Amount { dollars, tokens: input.saturating_add(self.longest_reply) }).await
    }

    /// What a call came to; `None` where its tokens were not told.
    pub fn amount(&self, usage: &Usage) -> Option<Amount> {
        let tokens = usage.total_tokens()?;
        match self.price.map_or(Cost::NOTHING, |price| price.of(usage)) {
            Cost::Exactly(dollars) => Some(Amount { dollars, tokens }),
            Cost::AtLeast(_) | Cost::Unknown => None,
        }
    }
}
