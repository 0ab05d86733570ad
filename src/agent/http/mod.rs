//! Any agent with a REST interface, by templates for requests and JSONPath for replies.
//!
//! In: user messages. Out: the text, events and tokens that the job's paths pick from the replies, and the agent's state.
//!
//! Invariants: a value that is filled in can't break out of its place; header values count as secrets; events are
//! distinguished by their shape and not interpreted further.

mod calls;
mod config;
mod user_tools;

pub use config::{HttpConfig, OpenConfig, SayConfig, StateConfig, StreamConfig};
