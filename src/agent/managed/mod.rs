//! An agent that eval-job starts itself: it is waited for, its output is kept, and it is always ended.
//!
//! In: [`StartSettings`]. Out: a [`ManagedAgent`] that is ready, and its output.
//!
//! Invariants: its output is read at once and kept up to a limit; an agent without an owner is asked to end,
//! and killed with its whole process group when it does not; only an eval-job that is itself killed, by `kill -9` or a
//! crash, leaves one behind.

mod config;
mod process;
mod settings;
mod start;
mod start_error;

pub use super::output::Listener;
pub use config::{ReadyConfig, SignalConfig, StartConfig, StopConfig, address_problem, check, pattern_problem};
pub use process::{Lifeline, ManagedAgent};
pub use settings::{GraphAccess, StartSettings};
pub use start::ManagedAgents;
pub use start_error::StartError;
