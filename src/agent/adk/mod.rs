//! Google ADK's `api_server`: sessions, `/run` and `/run_sse`, as google-adk 2.13 and older ones speak it, and as
//! trpc-agent-go's debug server spoke it.
//!
//! In: user messages. Out: the final response of each run, with the events before it.
//!
//! Invariants: the reply is the last final response by ADK's own rule (`Event.is_final_response`); whatever comes before
//! it is kept as events; a failure that the agent reports in a reply of status 200 is a failure.

mod calls;
mod config;
pub mod wire;

pub(in crate::agent) use calls::{AdkWire, TRPC_DEBUG};
pub use config::AdkConfig;
