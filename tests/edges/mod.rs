//! The edges against a server that misbehaves in every way that the table names.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod command_agent;
mod embabel;
mod http;
mod http_agent;
mod neo4j;
mod models;
mod money;
mod openai;
mod openai_agent;
mod responses_agent;
pub mod server;
mod websocket_agent;
