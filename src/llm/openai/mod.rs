//! OpenAI's chat completions, which many other endpoints speak as well.
//!
//! Invariants: the same question is the same bytes, so that prompt caches hit; what an endpoint can't do is found out
//! once and remembered; a refusal, a cut answer and an error in a success's clothing are errors, never words.

mod client;
mod fault;
mod settings;
pub mod wire;

pub use client::OpenAi;
pub use settings::{OpenAiSettings, check};
