//! All tests that need more than one room: the built program, real servers on loopback, and the house itself.

#![expect(clippy::unwrap_used, reason = "a test that can't go on must fail")]
#![expect(clippy::disallowed_methods, reason = "tests start processes, which have an environment and take time")]

mod attacks;
mod bolt;
mod changes;
mod contract;
mod demo;
mod edges;
#[path = "fuzz/replay.rs"]
mod fuzz;
mod guards;
mod house;
mod isolation;
mod program;
mod readers;
mod servers;
mod tck;
mod transports;
mod vectors;
