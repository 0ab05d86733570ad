//! Cypher as text: only as much of it as a backend must see before it hands a statement on.
//!
//! Invariants: pure; nothing here judges whether a statement is valid; the tokens of a text, joined, are the text.

mod check;
mod columns;
mod scope;
mod split;
mod token;

pub use check::{CypherProblem, assertion_problem, setup_problem};
pub(in crate::graph) use columns::{Columns, columns};
pub use scope::unscoped_problem;
pub(in crate::graph) use split::split;
pub(in crate::graph) use token::{Kind, Token, closing, significant, tokens};
