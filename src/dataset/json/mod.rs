//! A JSON reader for files that people write: text → a tree of values that know where they are written.
//!
//! Comments, trailing commas, raw line breaks in strings and Python's `NaN` are read with a warning; whatever else is no JSON
//! is an error with its place. Depth is bounded, so that a hostile file cannot exhaust the stack. Nothing in here knows
//! what a dataset is.

mod node;
mod notes;
mod reader;
mod string;
#[cfg(test)]
mod tests;

pub(super) use node::{JsonContent, JsonEntry, JsonNode};
pub(super) use notes::JsonNote;
pub(super) use reader::{JsonError, JsonText, read};
pub(super) use string::{json_of, json_within};
