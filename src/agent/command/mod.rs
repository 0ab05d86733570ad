//! An agent behind a command's standard input and output: a line of input for each message, and a message with a
//! terminator back.
//!
//! In: user messages. Out: the agent's messages, and its tokens where it reports them.
//!
//! Invariants: each conversation has a process group of its own, which ends with it; nothing is sent twice; its output is held
//! up to a limit; a message of several lines is sent as one line, its line breaks as spaces.

mod client;
mod config;
mod session;
mod user_tools;
pub mod wire;

use client::CommandAgent;
pub use config::CommandConfig;
