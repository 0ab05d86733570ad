//! Agents without a protocol of their own: templates for requests, JSONPath for replies.
//!
//! In: a job's templates and paths, the values of a turn, and the agent's JSON. Out: requests, and the text, events, tokens
//! and state that the paths pick.
//!
//! Invariants: a value that is filled in can't break out of its place; events are distinguished by their shape and not
//! interpreted further.

mod config;
mod done;
mod formatter;
mod off_thread;
mod path;
mod pick;
mod request;
mod resource;
mod state;
mod template;

pub use config::{DoneConfig, MethodConfig, UsageConfig};
pub(super) use done::DoneMark;
pub(super) use off_thread::{OffThreadError, off_thread};
pub(super) use path::path;
pub(super) use pick::{PickedReply, ReplyPaths, text, where_text_is};
pub use request::TemplateValues;
pub(super) use request::{
    FilledRequest, RequestTemplate, depends_on_message, example_values, example_values_without, never_hears, with_call,
};
pub(super) use state::StatePaths;
pub(super) use template::{address, fill_all, fill_all_off_thread, headers_of, mentions, mentions_within};
