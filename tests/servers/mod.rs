//! Servers on loopback that speak other people's wire formats, well or badly: an agent and a language model.

pub mod agent;
pub mod http;
pub mod model;
