//! Agents without a protocol of their own: templates for requests, JSONPath for replies.
//!
//! Invariants: what is filled in stays in its place, whatever it holds; events are carried and never interpreted beyond
//! their shape.

mod off_thread;
mod config;
mod path;
mod pick;
mod state;
mod template;

pub use config::{MethodConfig, UsageConfig};
pub(super) use off_thread::off_thread;
pub(super) use path::path;
pub(super) use pick::{PickedReply, ReplyPaths, text};
pub(super) use state::StatePaths;
pub use template::TemplateValues;
pub(super) use template::{
    FilledRequest, RequestTemplate, address, example_values, example_values_without, fill_all, fill_all_off_thread,
    headers_of, mentions, mentions_within, tells_message,
};
