//! Any agent behind a WebSocket: templates for what is sent, JSONPath for what comes.
//!
//! Invariants: a conversation has a connection of its own, and is over with it; nothing is ever said twice; what comes after
//! a reply's end belongs to the next one.

mod client;
mod config;
mod wire;

use client::WebSocketAgent;
pub use config::{DoneConfig, ReplyConfig, WebSocketConfig};
