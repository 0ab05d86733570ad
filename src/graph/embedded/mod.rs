//! The embedded graph: a property graph in this process and in memory, fresh for each trial. In comes Cypher as Neo4j
//! takes it; out come the rows that Neo4j would give, or an error.
//!
//! Invariants: never a wrong row where an error can be given. Syntax that the engine lacks is either rewritten exactly
//! ([`bridge`]), or refused with a sentence that names Neo4j ([`gap`]).

mod bridge;
mod catalog;
mod client;
mod certain;
mod compile;
mod config;
mod counts;
mod engine;
mod cancel;
mod gap;
mod labels;
mod limits;
mod memory;
mod names;
mod packed;
mod error;
mod schema;
mod scope;
mod session;
mod pool;
mod stages;
mod run;
mod wire;

pub use catalog::{NEO4J, SchemaFault};
pub use certain::certain_problem;
pub use client::EmbeddedGraph;
pub use compile::compile_problem;
pub use config::{EmbeddedConfig, Megabytes};
pub use counts::WriteCounts;
pub use error::{StatementError, StatementErrorKind};
pub use limits::EmbeddedLimits;
pub use memory::ReservedMemory;
pub use packed::{Form, Packed};
pub use pool::Sessions;
pub use session::{AccessMode, Effect, GraphSession, StatementResult, Timeouts};
