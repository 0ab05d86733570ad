//! Agent2Agent over JSON-RPC, versions 1.0 and 0.3 (a2a-protocol.org/latest/specification and /v0.3.0/specification): the
//! agent card says where and how, a message becomes a reply or a task, a task is waited for.
//!
//! Invariants: the key goes to the host of `baseUrl` alone, whatever the card says; a message keeps its id when it is
//! sent again; a task is asked for until it rests or the turn's time is up.

mod calls;
mod config;
pub mod wire;

pub use config::A2aConfig;
