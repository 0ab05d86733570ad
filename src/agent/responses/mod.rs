//! A bare model behind OpenAI's Responses API, which keeps the conversation itself.
//!
//! Invariants: a turn goes on from the last response of the last turn that succeeded, so that a failed one leaves nothing
//! behind (but in a `conversation`, which only grows); no function of the job is ever really called; the rounds of one
//! turn are bounded.

mod calls;
mod config;
mod wire;

pub use config::{EffortConfig, ResponsesConfig};
