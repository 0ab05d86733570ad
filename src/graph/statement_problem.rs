//! Why a statement can't run, known without running it.

use std::fmt::{self, Display, Formatter};

use crate::text::Position;

/// Why a statement can't run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementProblem {
    /// Where in the text.
    pub at: Option<Position>,
    /// The problem, in a sentence.
    pub message: String,
}

impl StatementProblem {
    /// The problem of a backend's message, which may begin with its place: `Syntax error at line 1, column 8: …`.
    pub fn from_message(message: &str) -> StatementProblem {
        let placed = || {
            let rest = message.strip_prefix("Syntax error at ").unwrap_or(message);
            let (line, rest) = rest.strip_prefix("line ")?.split_once(", column ")?;
            let (column, message) = rest.split_once(": ")?;
            let at = Position { line: line.parse().ok()?, column: column.parse().ok()? };
            Some(StatementProblem { at: Some(at), message: message.to_owned() })
        };
        placed().unwrap_or_else(|| StatementProblem { at: None, message: message.to_owned() })
    }
}

impl Display for StatementProblem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_with_its_place() {
        for (message, at, rest) in [
            ("Syntax error at line 2, column 18: m is not there", Some((2, 18)), "m is not there"),
            ("line 1, column 3: bad: worse", Some((1, 3)), "bad: worse"),
            ("line one, column 3: bad", None, "line one, column 3: bad"),
            ("it can't be had", None, "it can't be had"),
        ] {
            let problem = StatementProblem::from_message(message);
            let at = at.map(|(line, column)| Position { line, column });
            assert_eq!((problem.at, problem.message.as_str()), (at, rest), "{message}");
        }
    }
}
