//! Neo4j, over Bolt.
//!
//! Invariants: reading happens in read access mode, so that the server itself refuses a write; several statements are
//! one transaction; no error message holds the password.

mod client;
mod config;
mod error;
mod temporal;
mod wire;

pub use client::{Limits, Neo4jConnection, Neo4jGraph};
pub use config::Neo4jConfig;
