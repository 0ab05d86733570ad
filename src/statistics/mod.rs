//! Uncertainty of figures: intervals, agreement, and means corrected by what is known for sure. Pure; in come numbers with
//! the case that each is of, out come estimates with 95 % intervals.
//!
//! Cases are what is drawn independently: repetitions, conditions and tasks of one case are alike, so that every interval here
//! is computed over cases, with Student's t.

mod agreement;
mod baseline_uses;
#[cfg(test)]
mod beside;
mod bootstrap;
mod change;
mod components;
#[cfg(test)]
mod change_simulations;
mod correction;
mod figure;
mod interval;
mod mean;
mod methods;
mod paired;
mod precise_sum;
mod quantile;
mod rate;
mod ratio;
mod sign_flip;
#[cfg(test)]
mod simulations;
mod sums;
mod unseen;

pub use agreement::{Agreement, Pair, Ratings, agreement, alpha, best_threshold, kappa};
pub use baseline_uses::false_alarms_by_uses;
pub use change::{ChangePoint, Changes, Dated, FALSE_ALARMS, LEAST_VALUES, Shift, changes, shift};
pub use components::{JudgedScore, SpreadShares, spread_shares};
pub use correction::{Corrected, CorrectionError, LEAST_VERIFIED, Unit, corrected};
pub use figure::{Figure, SamplingUnit, StandardError, figure, t_half_width};
pub use interval::{Estimate, Interval, LEVEL};
pub use mean::mean;
pub use methods::{ComparisonMethods, FigureMethods, TrendMethods};
pub use paired::{Difference, Paired, difference, difference_at_a_look, holm};
pub use precise_sum::PreciseSum;
pub use quantile::{CaseValues, quantile, quantile_at_least};
pub use rate::{Share, rate};
pub use ratio::variance_ratio;
pub use sums::{Cell, Sums};
pub use unseen::unseen_share;
