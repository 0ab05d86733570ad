//! An agent behind a command's standard input and output: a line of input for each message, and a message with a
//! terminator back.
//!
//! Invariants: each conversation has a process group of its own, of which nothing is left in the end; nothing is said
//! twice; no more than a bound is held of whatever it prints; a message of several lines is sent as one, its line breaks
//! as spaces.

mod client;
mod config;
mod wire;

use client::CommandAgent;
pub use config::CommandConfig;
