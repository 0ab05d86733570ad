//! Reserves the cost of one model's requests.

use std::sync::Arc;

use super::{Amount, Cost, Dollars, LimitExceeded, Price, Reservation, SpendTracker};
use crate::evidence::Usage;

/// One model's access to the run's budget.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// The budget of the run.
    pub spend_tracker: Arc<SpendTracker>,
    /// The model's price; `None` if unknown, which is allowed only where money is not limited.
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

    /// The cost of a finished call; `None` if its token counts were not reported.
    pub fn amount(&self, usage: &Usage) -> Option<Amount> {
        let tokens = usage.total_tokens()?;
        match self.price.map_or(Cost::NOTHING, |price| price.of(usage)) {
            Cost::Exactly(dollars) => Some(Amount { dollars, tokens }),
            Cost::AtLeast(_) | Cost::Unknown => None,
        }
    }
}
