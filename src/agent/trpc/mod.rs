//! trpc-agent-go: its agent server (`server/trpcagent`). Its older debug server speaks ADK's protocol, and ADK's client
//! talks to it.
//!
//! In: user messages. Out: the final response of each run, with the events before it.
//!
//! Invariants: the reply is the text of the runner's completion, else the last final response, by the rule of
//! trpc-agent-go's own evaluation; a run that did not complete is the agent's failure, whatever the HTTP status.

mod calls;
mod config;
pub mod wire;

pub use config::{ServerConfig, TrpcConfig};
