//! The YAML of an expression assertion.

/// `expression`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionCheck {
    /// A Rhai script; it was compiled when the job was loaded.
    pub expression: String,
}
