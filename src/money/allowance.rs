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
}

impl Allowance {
    /// Sets aside the most that a request of so many bytes can cost, with a reply of at most so many tokens: no token of
    /// text is shorter than a byte.
    ///
    /// # Errors
    /// It does not fit any more.
    pub async fn set_aside(&self, bytes: usize, max_tokens: u32) -> Result<Reservation, LimitExceeded> {
        let (input, output) = (bytes as u64, u64::from(max_tokens));
        let dollars = self.price.map_or(Dollars::ZERO, |price| price.at_most(input, output));
        self.spend_tracker.set_aside(Amount { dollars, tokens: input.saturating_add(output) }).await
    }

    /// The cost of a finished call; `None` if its token counts were not reported.
    pub fn amount(&self, usage: &Usage) -> Option<Amount> {
        let tokens = usage.total_tokens()?;
        match self.price.map_or(Cost::NOTHING, |price| price.cost(usage)) {
            Cost::Exactly(dollars) => Some(Amount { dollars, tokens }),
            Cost::AtLeast(_) | Cost::Unknown => None,
        }
    }
}
