//! A bare model behind OpenAI's Responses API, which keeps the conversation itself.
//!
//! In: user messages. Out: replies with calls, the work of hosted tools as events, and tokens.
//!
//! Invariants: a turn continues from the last response of the last successful turn, so that a failed one leaves nothing
//! behind (but in a `conversation`, which only grows); no function of the job is ever really called; the rounds of one
//! turn are bounded.

mod calls;
mod config;
mod wire;

pub use config::{EffortConfig, ResponsesConfig};
