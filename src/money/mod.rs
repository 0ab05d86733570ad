//! Prices of tokens, and the budget of a run. In come tokens and limits; out come costs, and the permission to spend.
//!
//! Invariants: sums are whole numbers, so that no limit is missed by rounding; what is not known (a model without a price, a
//! reply without counts) is never taken for nothing; a request of ours is only made when the most that it can cost fits.

mod allowance;
mod amount;
mod dollars;
mod price;
mod spend_tracker;
mod table;

pub use allowance::Allowance;
pub use amount::Amount;
pub use dollars::Dollars;
pub use price::{Cost, LongContext, Price};
pub use spend_tracker::{LimitExceeded, Reservation, SpendLimits, SpendTracker};
pub use table::{PriceTable, PricesError};
