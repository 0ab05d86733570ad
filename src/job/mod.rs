//! A job: the file as it is written, and what it means.
//!
//! `written` holds the YAML's own shape (the schema is derived from it), [`load`] turns text into a [`Job`] that is valid
//! by construction, or into all of its problems at once, each with file, line and column. No network, no environment.
//!
//! ```text
//! text ─source→ tree with places ─check, semantics→ no problems ─serde→ JobFile ─meant→ Job
//!                                 └→ Problems ─render→ text
//! ```

mod change_lines;
mod check;
mod load;
mod mask;
mod meaning;
mod meant;
mod model;
mod nearest;
mod problem;
mod render;
mod schema;
mod secrets;
mod script_place;
mod semantics;
mod source;
mod template_check;
mod written;

pub use load::load;
pub use meaning::{
    Assertion, Facts, Gate, Isolation, Job, Judge, Limits, Mind, Persona, RunLimits, Seed, Setup, Target, Task,
    TaskKind, TimingOn,
};
pub use model::{Model, ModelName, Provider, ReasoningEffort};
pub use problem::{Problem, Problems};
pub use render::render_problems;
pub use schema::schema;
pub use secrets::secrets;
pub use template_check::{TemplateCheck, TemplateKind, TemplatePlace, TemplateProblem};

#[cfg(test)]
mod tests;
