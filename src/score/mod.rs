//! Scores and weights. In come the components of a scorecard; out goes their composite, by the one formula.
//!
//! Invariants: a score is between 0 and 1 and never NaN; what is missing is never silently 0 (`Component::Missing`), and
//! what does not apply leaves the weighting (`Component::NotApplicable`).

mod component;
mod composite;
mod gate;
mod outcome;
mod repeats;
mod scorecard;
mod until_decided;
mod vacuity;

pub use component::{Component, OutOfRange, Score, Weight};
pub use composite::{composite, mean_of, mean_of_conditions, penalty, weighted_mean};
pub use gate::{AssertionGate, GateRules, OnInconclusive};
pub use outcome::{NOT_HELD_AGAIN, Outcome};
pub use repeats::{
    Majority, PassError, PassStatus, f1, is_settled, majority, pass_at_k, pass_hat_k, pass_hat_k_unbiased, pooled_mean,
    share,
};
pub use scorecard::{Dimension, Item, OtherScore, PassLine, Scorecard};
pub use until_decided::{Decision, RepeatsEnded, UntilDecided};
pub use vacuity::{Vacuity, VacuousGate};
