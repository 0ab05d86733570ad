//! A bare model as the agent under test: chat completions of any endpoint that speaks them, with mocked functions.
//!
//! In: user messages. Out: replies with the model's calls, their mocked results and tokens.
//!
//! Invariants: the client keeps the history, and a failed turn leaves nothing in it; no function is ever really
//! called; the rounds of one turn are bounded.

mod calls;
mod config;
mod wire;

pub use config::OpenAiConfig;
