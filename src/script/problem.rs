//! Problems of a script that are found before it runs.

use std::fmt;

use rhai::{AST, LexError, ParseError, ParseErrorType, Position};

use super::ending::{assignment_problem, literal_problem};
use super::purpose::{Gives, ScriptPurpose};
use super::{engine, kotlin, names};
use crate::text::nearest;

/// A problem of a script, found without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionProblem {
    /// The line within the script, from 1.
    pub line: usize,
    /// The column within the line, in characters, from 1.
    pub column: usize,
    /// The problem, in a sentence.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

impl fmt::Display for ExpressionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl ExpressionProblem {
    pub(crate) fn at(position: Position, message: String, help: Option<String>) -> ExpressionProblem {
        let (line, column) = (position.line().unwrap_or(1), position.position().unwrap_or(1));
        ExpressionProblem { line, column: column.max(1), message, help }
    }
}

/// A script's syntax tree.
///
/// # Errors
/// The first thing that is wrong with it.
pub(crate) fn checked(script: &str, purpose: &'static ScriptPurpose) -> Result<AST, ExpressionProblem> {
    if script.trim().is_empty() {
        return Err(ExpressionProblem {
            line: 1,
            column: 1,
            message: "the expression is empty".to_owned(),
            help: Some(match purpose.gives {
                Gives::Truth => format!("write what must be true, as in `{}`", purpose.example),
                Gives::Score => format!("write the score, as in `{}`", purpose.example),
            }),
        });
    }
    let (own, readable) = match engine::compile(script, purpose) {
        Ok(ast) => match names::problem(&ast, purpose) {
            Some(problem) => (problem, true),
            None => {
                let problem = other_meaning(script).or_else(|| assignment_problem(&ast));
                return problem.or_else(|| literal_problem(&ast, purpose)).map_or(Ok(ast), Err);
            }
        },
        Err(error) => (syntax(&error, script, purpose), false),
    };
    let Some(translation) = kotlin::translate(script) else { return Err(own) };
    let works = engine::compile(&translation.rhai, purpose).is_ok_and(|ast| names::problem(&ast, purpose).is_none());
    if readable && !works {
        return Err(own);
    }
    let (line, column) = translation.position(script);
    let how = if works { "in" } else { "near" };
    let help = Some(format!("{how} Rhai: `{}`", translation.rhai));
    Err(ExpressionProblem { line, column, message: translation.found.to_owned(), help })
}

/// Syntax that both languages have with different meanings: a range, a text.
fn other_meaning(script: &str) -> Option<ExpressionProblem> {
    let is_silent = |found: &str| [kotlin::RANGE, kotlin::FILLED_IN, kotlin::RAW].contains(&found);
    let translation = kotlin::translate(script).filter(|translation| is_silent(translation.found))?;
    let (line, column) = translation.position(script);
    let open = match &translation.open_range {
        Some(range) => format!("; where the end is meant to be left out: `{range}`"),
        None => String::new(),
    };
    let help = format!("in Rhai: `{}`{open}", translation.rhai);
    Some(ExpressionProblem { line, column, message: translation.found.to_owned(), help: Some(help) })
}

fn syntax(error: &ParseError, script: &str, purpose: &ScriptPurpose) -> ExpressionProblem {
    let (before, word) = word_at(error.position(), script);
    if let Some((message, help)) = other_operator(error, before, script) {
        return ExpressionProblem::at(error.position(), message.to_owned(), Some(help.to_owned()));
    }
    let is_property = before.trim_end().ends_with('.') && !before.trim_end().ends_with("..");
    if is_property && !word.is_empty() {
        let message = format!("`{word}` is a word of Rhai's own, and can't stand after a point");
        return ExpressionProblem::at(
            error.position(),
            message,
            Some(format!("a property of this name: `[\"{word}\"]`, without the point")),
        );
    }
    if let Some(help) = operator_help(word) {
        return ExpressionProblem::at(error.position(), format!("`{word}` is no operator of Rhai"), Some(help));
    }
    let (message, help) = match error.err_type() {
        ParseErrorType::VariableUndefined(name) | ParseErrorType::ModuleUndefined(name) => {
            (format!("there is no variable `{name}`"), variable_help(name, purpose))
        }
        ParseErrorType::Reserved(name) => (
            format!("`{name}` is a reserved word of Rhai"),
            Some("give the variable another name, such as `it`".to_owned()),
        ),
        ParseErrorType::BadInput(LexError::ImproperSymbol(symbol, hint)) if hint.is_empty() => {
            (format!("`{symbol}` can't be used in an expression"), None)
        }
        ParseErrorType::BadInput(LexError::MalformedChar(text)) => {
            ("a text stands in double quotes".to_owned(), Some(format!("in Rhai: `\"{text}\"`")))
        }
        ParseErrorType::BadInput(LexError::ImproperSymbol(_, hint)) => (hint.clone(), None),
        other => (other.to_string(), None),
    };
    ExpressionProblem::at(error.position(), message, help)
}

/// The word at a position, and what stands before it in its line.
fn word_at(position: Position, script: &str) -> (&str, &str) {
    let line = script.lines().nth(position.line().unwrap_or(1) - 1).unwrap_or_default();
    let column = position.position().unwrap_or(1).max(1) - 1;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (before, after) = line.split_at(at);
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
    (before, &after[..end])
}

/// An operator of other languages at an error: the problem and how it is written.
fn other_operator(error: &ParseError, before: &str, script: &str) -> Option<(&'static str, &'static str)> {
    if matches!(error.err_type(), ParseErrorType::AssignmentToInvalidLHS(_)) {
        return Some(("`=` gives a value to a variable, and this is none", "to compare, it is written `==`"));
    }
    let line = script.lines().nth(error.position().line().unwrap_or(1) - 1).unwrap_or_default();
    let is_angles = before.ends_with('<') && line[before.len()..].starts_with('>');
    is_angles.then_some(("`<>` is no operator of Rhai", "it is written `!=`"))
}

/// How an operator that is a word in other languages is written.
fn operator_help(word: &str) -> Option<String> {
    let written = match word.to_lowercase().as_str() {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "is" | "eq" => "==",
        _ => return None,
    };
    Some(format!("it is written `{written}`"))
}

fn variable_help(name: &str, purpose: &ScriptPurpose) -> Option<String> {
    match name {
        "null" | "nil" | "None" | "undefined" => Some("absent data is `()` in Rhai".to_owned()),
        "it" => Some("in Rhai a closure names what it takes: `|it| …`".to_owned()),
        "True" | "TRUE" => Some("did you mean `true`?".to_owned()),
        "False" | "FALSE" => Some("did you mean `false`?".to_owned()),
        _ => {
            let known = purpose.variables.iter().map(|(name, _)| *name);
            match nearest(name, known) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None => Some(format!("a script sees {}", purpose.names())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::EXPRESSION;

    #[test]
    fn words_of_other_languages_get_a_hint() {
        for (script, column, help) in [
            ("evaluation.turnCount == 1 and true", 27, "it is written `&&`"),
            ("evaluation.turnCount == 1 or true", 27, "it is written `||`"),
            ("not true", 1, "it is written `!`"),
            ("evaluation.model == 'gpt'", 21, "in Rhai: `\"gpt\"`"),
            ("evaluation.turnCount <> 1", 23, "it is written `!=`"),
            ("evaluation.turnCount() = 1", 12, "to compare, it is written `==`"),
            ("objectContext.entities.count() = 1", 24, "to compare, it is written `==`"),
            ("objectContext.default == 1", 15, "a property of this name: `[\"default\"]`, without the point"),
            ("objectContext.in == 1", 15, "a property of this name: `[\"in\"]`, without the point"),
            ("objectContext.for == 1", 15, "a property of this name: `[\"for\"]`, without the point"),
        ] {
            let problem = checked(script, &EXPRESSION).unwrap_err();
            assert_eq!((problem.column, problem.help.as_deref()), (column, Some(help)), "{script}: {problem}");
        }
    }
}
