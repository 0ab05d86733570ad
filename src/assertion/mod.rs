//! What must hold after the conversation: one folder a kind. Pure: it reads evidence and returns a component.

pub mod changes;
pub mod cypher;
mod equal;
pub mod expression;

use crate::clock::Clock;
use crate::evidence::Evidence;
use crate::score::{Component, Score};

/// What is looked at and what must be seen. The key that is present in the job file tells which.
#[derive(Debug, Clone, PartialEq)]
pub enum AssertionCheck {
    /// `cypher` and `expected`: the rows that a query must return.
    Cypher(cypher::CypherCheck),
    /// `expression`: a Rhai script that must be true.
    Expression(expression::ExpressionCheck),
    /// `changes`: what the conversation may do to the graph, and must.
    Changes(changes::ChangesCheck),
}

impl AssertionCheck {
    /// What a reader knows it by when the job gives it no name: its own text on one line.
    pub fn label(&self) -> String {
        let text = match self {
            AssertionCheck::Cypher(check) => &check.cypher,
            AssertionCheck::Expression(check) => &check.expression,
            AssertionCheck::Changes(check) => return changes::label(check),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether it looks at the graph.
    pub fn needs_graph(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => true,
            AssertionCheck::Expression(_) => self.needs_changes(),
        }
    }

    /// Whether it looks at what has changed in the graph, so that the graph has to be watched.
    pub fn needs_changes(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) => false,
            AssertionCheck::Changes(_) => true,
            AssertionCheck::Expression(check) => expression::uses_changes(&check.expression),
        }
    }

    /// Whether it looks at the functions that the agent called, which not every transport reports.
    pub fn needs_function_calls(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => false,
            AssertionCheck::Expression(check) => expression::uses_function_calls(&check.expression),
        }
    }

    /// The Cypher by which it looks at the graph.
    pub fn cypher(&self) -> Option<&str> {
        match self {
            AssertionCheck::Cypher(check) => Some(&check.cypher),
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => None,
        }
    }

    /// Evaluates it on what a trial left behind. `index` is its place in the job, from 0; `job` is its name. Where a
    /// message may have been delivered twice, what does not hold is missing: the fault may not be the agent's. `clock`
    /// stops what would take for ever.
    pub fn evaluate(&self, index: usize, job: &str, evidence: &Evidence, clock: Clock) -> Component {
        let component = match self {
            AssertionCheck::Cypher(check) => cypher::evaluate(check, index, evidence),
            AssertionCheck::Expression(check) => {
                expression::evaluate(check, job, evidence, clock.deadline(expression::TIME_LIMIT))
            }
            AssertionCheck::Changes(check) => changes::evaluate(check, evidence),
        };
        match component {
            Component::Scored { score, why } if score < Score::ONE && evidence.maybe_delivered_twice() => {
                Component::missing(format!(
                    "{why}; but a message was sent again that the agent may have received before, so that what it did may be doubled"
                ))
            }
            component => component,
        }
    }

    /// Whether it looks at the agent's object context, so that it has to be fetched.
    pub fn needs_object_context(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => false,
            AssertionCheck::Expression(check) => expression::uses_object_context(&check.expression),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Transcript, Turn};

    fn evidence(maybe_delivered: bool) -> Evidence {
        let turn = Turn { latency_ms: Some(1.0), maybe_delivered, ..Turn::said(1, "Hi", "Hello") };
        Evidence { transcript: Transcript { turns: vec![turn] }, ..Evidence::sample() }
    }

    fn evaluate(check: &AssertionCheck, evidence: &Evidence) -> Component {
        check.evaluate(0, "j", evidence, Clock::system())
    }

    fn check(expression: &str) -> AssertionCheck {
        AssertionCheck::Expression(expression::ExpressionCheck { expression: expression.into() })
    }

    #[test]
    fn a_doubled_message_makes_only_failures_missing() {
        let fails = check("evaluation.transcript.size == 1");
        assert_eq!(evaluate(&fails, &evidence(false)).score(), Some(Score::ZERO));
        let missing = evaluate(&fails, &evidence(true));
        assert!(missing.is_missing() && missing.why().contains("the left side is 2"), "{missing:?}");
        let holds = check("evaluation.transcript.size == 2");
        assert_eq!(evaluate(&holds, &evidence(true)).score(), Some(Score::ONE));
    }

    #[test]
    fn what_an_assertion_needs_is_known_before() {
        let cypher = cypher::CypherCheck { cypher: "RETURN 1".into(), expected: 1.into() };
        let cypher = AssertionCheck::Cypher(cypher);
        assert!(cypher.needs_graph() && !cypher.needs_object_context());
        assert!(check("objectContext.resources.size == 1").needs_object_context());
        assert!(check("evaluation.functionCalls.isEmpty()").needs_function_calls());
        assert!(check("`${evaluation.functionCalls.size}` == `0`").needs_function_calls());
        assert!(!check("evaluation.done && \"functionCalls\" != `functionCalls`").needs_function_calls());
        assert!(!cypher.needs_function_calls());
        assert!(!check("evaluation.done").needs_object_context() && !check("evaluation.done").needs_graph());
    }
}
