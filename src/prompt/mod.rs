//! The prompts of persona and judge: templates from `prompts/`, embedded at build time; overrides arrive as text. In
//! come views of a job and a conversation; out go messages for a model.
//!
//! Invariants: rendering is pure. Whatever is inserted is escaped first (`&`, `<`), so no value can open or close a tag
//! of the template, whichever template it is. A persona's messages only ever grow: those of one turn are a prefix of
//! those of the next, so providers' prompt caches hit. The persona is shown the facts that it *knows*: without facts it
//! gets an empty list, and there is nothing to leave out.

mod cut;
mod fence;
mod judge;
mod pair;
mod persona;
mod place;
mod question;
mod templates;
mod user_message;
mod user_tools;

pub use cut::Cut;
pub use fence::{escape, unescape};
pub use judge::{JudgeView, JudgedTask};
pub use pair::PairView;
pub use persona::{PersonaView, WantedTask, persona_turn};
pub use place::PromptPlace;
pub use question::{QuestionView, RenderedQuestion, ViewItem, call_text, result_text};
pub use templates::{TemplateKind, Templates};
pub use user_message::{REVIEW_TEMPLATE, UserMessageView};
pub use user_tools::{USER_TOOLS_TEMPLATE, UserToolView, shown_call, tool_exchange};

/// A prompt could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .place.as_ref().map(|place| format!("{}:{}:{}: ", place.file, place.line, place.column)).unwrap_or_default())]
pub struct PromptError {
    /// The error in a sentence, with the template's name and what to try.
    pub message: String,
    /// The place in the template, if there is one.
    pub place: Option<PromptPlace>,
}
