//! A run as text. Pure functions: whoever prints decides where it goes.
//!
//! Invariant: whatever an agent or a model said is untrusted and passes through [`plain`] before it reaches a terminal.

mod conversation;
mod gathered;
mod ink;
mod numbers;
mod plain;
mod screen;
mod terminal;
mod token_file;
mod trial_names;

pub use conversation::{change, conversation, event, excuse, judging};
pub use gathered::Gathered;
pub use ink::{Ink, Paint};
pub use numbers::{count, decimals, duration, telling_decimals, thousands, two_decimals};
pub use plain::{one_line, plain, short_name, wrapped};
pub use screen::{Cell, Page, Row, Screen, Table};
pub use terminal::{listing, terminal};
pub use token_file::write_token_file;
pub use trial_names::TrialNames;
