//! A job: the file as it is written, and what it means.
//!
//! `written` holds the YAML's own shape (the schema is derived from it), `load` turns text into a [`Job`] that is valid
//! by construction, or into all of its problems at once, each with file, line and column. No network, no environment.

mod meaning;

pub use meaning::{
    Assertion, Facts, Gate, Job, Judge, Limits, Mind, ModelName, Persona, Seed, Setup, Target, Task, TaskKind,
};
