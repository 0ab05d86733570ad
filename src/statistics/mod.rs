//! What numbers can carry: intervals, agreement, and means corrected by what is known for sure. Pure; in come numbers with
//! the case that each is of, out come estimates with 95 % intervals.
//!
//! Cases are what is drawn independently: repetitions, conditions and tasks of one case are alike, so that every interval here
//! is computed over cases, with Student's t.

mod agreement;
mod correction;
mod interval;
mod mean;
mod rate;

pub use agreement::{Agreement, Pair, Ratings, agreement, alpha, best_threshold, kappa};
pub use correction::{Corrected, CorrectionError, LEAST_VERIFIED, Unit, corrected};
pub use interval::{Estimate, Interval, LEVEL};
pub use mean::mean;
pub use rate::{Share, rate};
