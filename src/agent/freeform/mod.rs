//! Agents of nobody's protocol: templates for what is sent, JSONPath for what comes back.
//!
//! Invariants: what is filled in stays in its place, whatever it holds; events are carried and never interpreted beyond
//! their shape.

mod apart;
mod config;
mod path;
mod pick;
mod state;
mod template;

pub(super) use apart::apart;
pub use config::{MethodConfig, UsageConfig};
pub(super) use path::path;
pub(super) use pick::{Picked, Picks, text};
pub(super) use state::StatePicks;
pub use template::TemplateValues;
pub(super) use template::{
    Filled, Parts, address, fill_all, fill_all_apart, headers_of, names, names_within, stand_in, stand_in_without,
    tells_message,
};
