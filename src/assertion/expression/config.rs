//! The YAML of an expression assertion.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rhai::AST;

use super::usage;
use crate::script::{EXPRESSION, ExpressionProblem, checked};

/// `expression`: a Rhai script. It is read once, however many conversations it is evaluated on. Cheap to clone.
#[derive(Clone)]
pub struct ExpressionCheck(Arc<CompiledScript>);

struct CompiledScript {
    text: String,
    compiled: OnceLock<Result<Compiled, ExpressionProblem>>,
}

/// A script that can run, and the data that it reads.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) ast: AST,
    pub(super) uses_object_context: bool,
    /// The parts of the object context that it may look at.
    pub(super) context_parts: Vec<&'static str>,
    pub(super) uses_evaluation: bool,
    pub(super) uses_changes: bool,
}

impl ExpressionCheck {
    /// A check of this script, whatever is wrong with it.
    pub fn new(text: impl Into<String>) -> ExpressionCheck {
        ExpressionCheck(Arc::new(CompiledScript { text: text.into(), compiled: OnceLock::new() }))
    }

    /// The script as the job file has it.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The script, ready to run.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn compiled(&self) -> Result<&Compiled, &ExpressionProblem> {
        let compile = || {
            let text = self.text();
            Ok(Compiled {
                ast: checked(text, &EXPRESSION)?,
                uses_object_context: usage::uses_object_context(text),
                context_parts: usage::possible_context_parts(text),
                uses_evaluation: usage::uses_evaluation(text),
                uses_changes: usage::uses_changes(text),
            })
        };
        self.0.compiled.get_or_init(compile).as_ref()
    }

    /// Whether it looks at the object context, so that it has to be fetched. True unless it clearly does not.
    pub fn uses_object_context(&self) -> bool {
        self.compiled().map_or_else(|_| usage::uses_object_context(self.text()), |script| script.uses_object_context)
    }

    /// Whether it looks at the conversation itself. True unless it clearly does not.
    pub fn uses_evaluation(&self) -> bool {
        self.compiled().map_or_else(|_| usage::uses_evaluation(self.text()), |script| script.uses_evaluation)
    }

    /// Whether it looks at the changes of the graph. A property of that name does not count.
    pub fn uses_changes(&self) -> bool {
        self.compiled().map_or_else(|_| usage::uses_changes(self.text()), |script| script.uses_changes)
    }
}

impl PartialEq for ExpressionCheck {
    fn eq(&self, other: &ExpressionCheck) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for ExpressionCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpressionCheck").field(&self.text()).finish()
    }
}
