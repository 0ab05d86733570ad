//! Servers on loopback that speak other people's wire formats, well or badly: an agent, a language model,
//! and a real Neo4j.

pub mod agent;
pub mod client;
pub mod enterprise;
pub mod http;
pub mod model;
pub mod neo4j;
pub mod tls;
pub mod websocket;
