//! What the loader must know of prompts, without knowing them.

/// Tells whether a template that a job names can be rendered.
pub trait TemplateCheck {
    /// What is wrong with it, in a sentence: not there, not valid, a variable that this kind does not have.
    fn problem(&self, name: &str, kind: TemplateKind) -> Option<String>;
}

/// Whose instructions a template holds; it decides which variables there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// The persona's: `evaluator.prompt`.
    Persona,
    /// The judge's: `scorer.prompt`.
    Judge,
}
