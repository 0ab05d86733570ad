//! Embabel's REST protocol: sessions, messages and object contexts over HTTP with JSON bodies.
//!
//! Invariants: a message that may have arrived is only sent again with that being recorded; a reply's events are carried,
//! never interpreted beyond their shape; the session's id is data, wherever it comes from.

mod calls;
mod config;
pub mod wire;

pub use config::{EmbabelConfig, KnowledgeConfig};
