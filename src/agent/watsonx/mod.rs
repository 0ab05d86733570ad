//! watsonx Orchestrate, by both of its runtime APIs: runs (v1) and chat completions (v2).
//!
//! In: user messages. Out: replies with the steps of each turn as events.
//!
//! Invariants: once a server that keeps the thread has begun to answer, the message is never sent to it again: runs read a
//! reply that was cut off from the thread instead; an API key goes to IBM's token service and nowhere else.

mod completions;
mod config;
mod instance;
mod runs;
pub mod wire;

pub use config::{ApiConfig, AuthConfig, EditionConfig, ThreadsConfig, WatsonxConfig};
