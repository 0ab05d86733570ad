//! The limiter's tests: its parts, and a simulation against servers that enforce limits.

mod controller;
mod queue;
mod server;
mod simulation;
mod target;
