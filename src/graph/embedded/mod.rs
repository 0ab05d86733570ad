//! The embedded graph.

mod config;

pub use config::EmbeddedConfig;
