//! Servers on loopback that speak other people's wire formats, well or badly: an agent, a language model,
//! a real Neo4j and a real PostgreSQL.

pub mod agent;
pub mod client;
pub mod enterprise;
pub mod http;
pub mod model;
pub mod neo4j;
pub mod postgres;
pub mod tls;
pub mod websocket;

/// A variable by which the caller of the tests names a server.
#[expect(clippy::disallowed_methods, reason = "the caller of the tests says where the servers are")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The `turnsRead` of a judge that read whatever there is.
pub fn all_turns() -> Vec<u32> {
    (0..20).collect()
}

/// Reports a test that is left out: not by `eprintln`, which a test that passes swallows. In CI nothing may be left out.
pub fn leave_out(test: &str, why: &str) {
    use std::io::Write;
    assert!(variable("CI").is_none(), "{test}: {why}");
    let _ = writeln!(std::io::stderr(), "left out: {test}: {why}");
}
