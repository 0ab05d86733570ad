//! Agent2Agent over JSON-RPC, versions 1.0 and 0.3 (a2a-protocol.org/latest/specification and /v0.3.0/specification): the
//! agent card names the address and the version, a message is answered by a message or a task, a task is polled.
//!
//! In: user messages. Out: replies with the function calls that the parts of messages and artifacts report.
//!
//! Invariants: the key goes to the host of `baseUrl` alone, whatever the card says; a message keeps its id when it is
//! sent again; a task is polled until it rests or the turn's time is up.

mod calls;
mod config;
pub mod wire;

pub use config::A2aConfig;
