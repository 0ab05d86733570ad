//! All tests that need more than one room: the built program, real servers on loopback, and the house itself.

mod contract;
mod demo;
mod edges;
mod house;
mod program;
mod servers;
