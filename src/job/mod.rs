//! The job: configuration and cases, as a file says them.
//!
//! In: the file's text. Out: a [`Job`] that is valid by construction, or all of the file's problems at once, each with
//! line and column. The JSON Schema is derived from the same types, and `check` reads the text's tree by it; doc
//! comments are the descriptions that an author's editor shows; the key that is present distinguishes kinds, never a
//! tag. No network, no environment.
//!
//! ```text
//! text ─source→ tree with places ─check, semantics→ no problems ─serde→ Job ─complete→ Job
//!                                 └→ Problems ─render→ text
//! ```

mod allowed_faults;
mod assertion;
mod case;
mod case_check;
mod change_lines;
mod check;
mod configuration;
mod context;
mod embeddings;
mod expected_check;
mod gate;
mod limits;
mod line;
mod load;
mod redaction;
mod model;
mod model_file;
mod judged_check;
mod nearest;
mod own_models;
mod panel;
mod persona;
mod place;
mod problem;
mod render;
mod review;
mod rules;
mod schema;
mod script_place;
mod secrets;
mod semantics;
mod separate_expectations;
mod source;
mod target;
mod template_check;
mod user;
mod user_persona;
mod user_tool;
mod user_persona_names;
mod verified_check;

pub use allowed_faults::AllowedFaults;
pub use assertion::Assertion;
pub use case::{Case, CaseSession, Seed, Setup, Task, TaskKind};
pub use case_check::{CASE_ID_RULE, is_case_id};
pub use configuration::{Isolation, Job};
pub use context::ContextText;
pub use embeddings::Embeddings;
pub use gate::Gate;
pub use limits::{Limits, RunLimits, TimingConfig, TimingOn};
pub use line::Line;
pub use load::{digest, load, load_and_learn, load_document, load_lowered, read_yaml};
pub use model::{Model, ModelName, ModelNameError, Provider, ReasoningEffort};
pub use panel::{Panel, PanelError};
pub use persona::{Judge, Persona, VerifiedCases};
pub use place::{FilePlace, JobPart, JobPlace, StatementList, StatementPlace};
pub use problem::{Problem, Problems};
pub use render::render_problems;
pub use review::Review;
pub use schema::schema;
pub use secrets::{secrets, secrets_of_document, secrets_of_part};
pub use separate_expectations::SeparateExpectations;
pub use source::{SourceLines, SourceSpan, YamlContent, YamlNode, as_json};
pub use target::{JobGraph, Target};
pub use template_check::{ContextFileError, PromptRole, TemplateCheck, TemplatePlace, TemplateProblem};
pub use user::{Opening, ReferencePart, User};
pub use user_persona::UserPersona;
pub use user_tool::UserTool;

#[cfg(test)]
mod tests;
