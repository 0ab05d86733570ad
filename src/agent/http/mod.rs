//! Any agent with a REST interface, by templates for requests and JSONPath for replies.
//!
//! Invariants: what is filled in stays in its place, whatever it holds; header values count as secrets; a reply's events
//! are carried and never interpreted beyond their shape.

mod calls;
mod config;

pub use config::{HttpConfig, OpenConfig, SayConfig, StateConfig, StreamConfig};
