//! Embabel's REST protocol: sessions, messages and object contexts over HTTP with JSON bodies.
//!
//! In: user messages. Out: replies with their events, and the agent's object context.
//!
//! Invariants: a message that may have arrived is only sent again with that being recorded; events are distinguished by
//! their shape and not interpreted further; the session's id is data, wherever it comes from.

mod calls;
mod config;
pub mod wire;

pub use config::{EmbabelConfig, KnowledgeConfig};
