//! What must hold after the conversation: one folder a kind. Pure: it reads evidence and returns a component.

pub mod cypher;
pub mod expression;

use crate::evidence::Evidence;
use crate::score::Component;

/// What is looked at and what must be seen. The key that is present in the job file tells which.
#[derive(Debug, Clone, PartialEq)]
pub enum AssertionCheck {
    /// `cypher` and `expected`: the rows that a query must return.
    Cypher(cypher::CypherCheck),
    /// `expression`: a Rhai script that must be true.
    Expression(expression::ExpressionCheck),
}

impl AssertionCheck {
    /// What a reader knows it by when the job gives it no name: its own text on one line.
    pub fn label(&self) -> String {
        let text = match self {
            AssertionCheck::Cypher(check) => &check.cypher,
            AssertionCheck::Expression(check) => &check.expression,
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether it looks at the graph.
    pub fn needs_graph(&self) -> bool {
        matches!(self, AssertionCheck::Cypher(_))
    }

    /// Evaluates it on what a trial left behind. `index` is its place in the job, from 0; `job` is its name.
    pub fn evaluate(&self, index: usize, job: &str, evidence: &Evidence) -> Component {
        match self {
            AssertionCheck::Cypher(check) => cypher::evaluate(check, index, evidence),
            AssertionCheck::Expression(check) => expression::evaluate(check, job, evidence),
        }
    }
}
