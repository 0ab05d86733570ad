//! The demo agent.

mod config;

pub use config::DemoConfig;
