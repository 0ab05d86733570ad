//! Embabel's REST protocol.

mod config;

pub use config::{EmbabelConfig, KnowledgeConfig};
