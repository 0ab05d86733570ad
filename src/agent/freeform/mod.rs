//! Agents without a protocol of their own: templates for requests, JSONPath for replies.
//!
//! Invariants: what is filled in stays in its place, whatever it holds; events are carried and never interpreted beyond
//! their shape.

mod config;
mod off_thread;
mod path;
mod pick;
mod request;
mod state;
mod template;

pub use config::{MethodConfig, UsageConfig};
pub(super) use off_thread::off_thread;
pub(super) use path::path;
pub(super) use pick::{PickedReply, ReplyPaths, text};
pub use request::TemplateValues;
pub(super) use request::{FilledRequest, RequestTemplate, example_values, example_values_without, tells_message};
pub(super) use state::StatePaths;
pub(super) use template::{address, fill_all, fill_all_off_thread, headers_of, mentions, mentions_within};
