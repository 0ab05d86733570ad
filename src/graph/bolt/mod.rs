//! The Bolt server: an embedded graph served on loopback, so that an agent in any language with an official Neo4j
//! driver works on a graph that lives in this process. In come the messages of drivers; out go records and summaries,
//! as Neo4j would send them.
//!
//! Bolt 4.4 and 5.0 to 5.4. One database, `neo4j`; one user. What differs from Neo4j:
//! - A statement on its own is kept when it has run, not when its rows were fetched.
//! - One transaction writes at a time, from its first write to its end; another waits and then fails, and may try again.
//! - Results are held in memory and bounded; counters in summaries only show whether something was written.
//!
//! Invariants: nothing that a client sends makes the server panic, wait or grow without bounds; no client works on the graph
//! without the password, and clients without it never keep out others that have it; a transaction whose client is gone is undone.

mod server;
mod failure;
mod frame;
mod admission;
mod client;
mod packstream;
mod connection;
mod probe;
mod protocol;
mod request;
mod settings;
mod temporal;
mod value;
mod version;

pub use probe::fuzz_bolt_reader;
pub use server::BoltServer;
pub use settings::{BoltLimits, BoltSettings};

/// The name of the one database.
const DATABASE: &str = "neo4j";
