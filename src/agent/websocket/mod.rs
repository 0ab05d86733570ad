//! Any agent behind a WebSocket: templates for the frames that are sent, JSONPath for those that come.
//!
//! Invariants: a conversation has a connection of its own, and is over with it; nothing is ever sent twice; whatever comes after
//! a reply's end belongs to the next one.

mod client;
mod config;
mod wire;

use client::WebSocketAgent;
pub use config::{DoneConfig, ReplyConfig, WebSocketConfig};
