//! Neo4j, over Bolt.
//!
//! Invariants: reading happens in read access mode, so that the server itself refuses a write; several statements are
//! one transaction; only what the server itself calls transient is tried again; no error message holds the password.

mod address;
mod client;
mod trouble;
mod config;
mod connection;
mod database;
mod error;
mod temporal;
mod wire;

pub use address::{AddressError, check};
pub use client::Neo4jGraph;
pub use config::Neo4jConfig;
pub use connection::{Neo4jConnection, Neo4jLimits};
