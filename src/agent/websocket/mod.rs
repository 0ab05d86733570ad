//! Any agent behind a WebSocket: templates for the frames that are sent, JSONPath for those that come.
//!
//! In: user messages. Out: replies with events and tokens, read from the agent's frames.
//!
//! Invariants: a conversation has a connection of its own and ends with it; nothing is ever sent twice; frames after a reply's
//! end belong to the next reply.

mod client;
mod config;
mod session;
mod wire;

use client::WebSocketAgent;
pub use config::{ReplyConfig, WebSocketConfig};
