//! Cypher as text: as much of it as must be seen before a statement is handed on to a backend, or after it.
//!
//! Comes in: any text. Goes out: its statements, their tokens, brackets and projections ([`Statement`]), and whatever is
//! wrong with them on every backend. Invariants: pure; the tokens of a text, joined, are the text.

mod check;
mod columns;
mod projection;
mod scope;
mod split;
mod statement;
mod token;

pub use check::{CypherProblem, assertion_problem, setup_problem};
pub use columns::{Columns, columns};
pub use projection::Projection;
pub use scope::unscoped_problem;
pub use split::split;
pub use statement::{Span, Statement};
pub use token::{Token, TokenKind, is_one_of, unquoted};
