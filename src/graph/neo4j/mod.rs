//! Neo4j.

mod config;

pub use config::Neo4jConfig;
